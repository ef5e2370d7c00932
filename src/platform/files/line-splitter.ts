import { isAscii, isUtf8, transcode } from 'node:buffer'

const newline = 10

/** Longer lines are cut: one of 700 MB must not exhaust the memory. */
const maxLineBytes = 16 * 1024 * 1024

/**
 * Splits a stream of bytes into lines. Decodes complete lines only, so that no character is split; keeps only the beginning of
 * a line over the cap. Buffers at most one line.
 */
export function createLineSplitter(onLine: (line: string) => void, cap = maxLineBytes) {
  let parts: Buffer[] = []
  let size = 0

  const keep = (part: Buffer) => {
    if (size < cap) parts.push(Buffer.from(part.subarray(0, cap - size)))
    size += part.length
  }
  const flush = () => {
    if (size > 0) onLine(decodeUtf8(Buffer.concat(parts)))
    parts = []
    size = 0
  }
  return {
    push: (chunk: Buffer): void => {
      let start = 0
      for (let end = chunk.indexOf(newline); end !== -1; end = chunk.indexOf(newline, start)) {
        if (size === 0) {
          if (end > start) onLine(decodeUtf8(chunk.subarray(start, end - start > cap ? start + cap : end)))
        } else {
          keep(chunk.subarray(start, end))
          flush()
        }
        start = end + 1
      }
      if (start < chunk.length) keep(chunk.subarray(start))
    },
    /** Flushes the last line if it has no newline. */
    end: flush,
  }
}

/** Node 20 decodes UTF-8 at half this speed as soon as the text has one character beyond ASCII. */
const decodeUtf8 = (bytes: Buffer): string =>
  bytes.length > 256 && !isAscii(bytes) && isUtf8(bytes)
    ? transcode(bytes, 'utf8', 'utf16le').toString('utf16le')
    : bytes.toString()
