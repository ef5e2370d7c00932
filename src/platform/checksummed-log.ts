import { crc32 } from 'node:zlib'

/** Formats a value as one line of a log: `crc32hex SP json LF`. */
export const formatLogLine = (value: unknown): string => formatJsonLine(JSON.stringify(value))

export const formatJsonLine = (json: string): string => `${formatChecksum(json)} ${json}\n`

/** The JSON of a line without its newline; undefined if its checksum does not match. */
export function readLogLine(line: string): string | undefined {
  const json = line.slice(9)
  return line[8] === ' ' && formatChecksum(json) === line.slice(0, 8) ? json : undefined
}

/** Eight hexadecimal digits. */
export const formatChecksum = (data: string | Buffer): string => crc32(data).toString(16).padStart(8, '0')
