/** Paths of git are bytes, one per character; users read UTF-8. */
export const decodePath = (path: string): string => Buffer.from(path, 'latin1').toString()

/** For the file system, which takes the bytes. */
export const resolvePath = (root: string, path: string): Buffer =>
  Buffer.concat([Buffer.from(`${root}/`), Buffer.from(path, 'latin1')])
