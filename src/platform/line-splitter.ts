const newline = 10

/** Lines longer than this are cut: one of 700 MB must not take the process with it. */
const longestLine = 16 * 1024 * 1024

/**
 * Cuts a stream of bytes into lines. Decodes whole lines only, so that no character is split; of a line over the cap only the
 * beginning is kept. Never holds more than one line.
 */
export function lineSplitter(onLine: (line: string) => void, cap = longestLine) {
  let parts: Buffer[] = []
  let size = 0

  const keep = (part: Buffer) => {
    if (size < cap) parts.push(Buffer.from(part.subarray(0, cap - size)))
    size += part.length
  }
  const flush = () => {
    if (size > 0) onLine(parts.length === 1 ? (parts[0]?.toString() ?? '') : Buffer.concat(parts).toString())
    parts = []
    size = 0
  }
  return {
    push: (chunk: Buffer): void => {
      let start = 0
      for (let end = chunk.indexOf(newline); end !== -1; end = chunk.indexOf(newline, start)) {
        if (size === 0) {
          if (end > start) onLine(chunk.toString('utf8', start, end - start > cap ? start + cap : end))
        } else {
          keep(chunk.subarray(start, end))
          flush()
        }
        start = end + 1
      }
      if (start < chunk.length) keep(chunk.subarray(start))
    },
    /** The rest without a newline at its end. */
    end: flush,
  }
}
