declare module 'fs-native-extensions' {
  /** Takes a lock that belongs to the open file, not to the process; false if somebody else has it. */
  export function tryLock(fd: number): boolean
  /** Makes two files change places in one step. */
  export function swap(from: string, to: string): Promise<void>
}
