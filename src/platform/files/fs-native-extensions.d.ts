declare module 'fs-native-extensions' {
  /** Takes a lock that belongs to the open file, not to the process; false if another one holds it. */
  export function tryLock(fd: number, options?: { readonly shared: true }): boolean
  /** Swaps two files atomically. */
  export function swap(from: string, to: string): Promise<void>
}
