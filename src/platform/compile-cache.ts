import { isAscii } from 'node:buffer'
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { basename, dirname, join } from 'node:path'
import { cachedDataVersionTag } from 'node:v8'
import { Script } from 'node:vm'
import { crc32 } from 'node:zlib'

type Module = { exports: unknown }
type ModuleScope = [exports: unknown, require: (id: string) => unknown, module: Module, file: string, folder: string]
type ModuleBody = (...scope: ModuleScope) => void

const wrapperStart = '(function (exports, require, module, __filename, __dirname) {'

/**
 * Runs a CommonJS file, and the files beside it that it requires, from the code that V8 compiled at an earlier start. Missing
 * entries are written to `folder` when the process exits. If nothing can be written, the next start is as slow as this one.
 */
export function requireCached(entry: string, folder: string): void {
  // V8 rejects code that was compiled with other flags, and `ralph run` has its own.
  const tag = cachedDataVersionTag()
  const cacheFolder = join(folder, `${process.version}-${process.arch}-${tag}`)
  const modules = new Map<string, Module>()
  const fresh = new Map<string, () => Buffer>()
  const requirePackage = createRequire(entry)

  function load(file: string): unknown {
    const known = modules.get(file)
    if (known) return known.exports
    const module: Module = { exports: {} }
    modules.set(file, module)
    const cacheFile = join(cacheFolder, `${basename(dirname(file))}-${basename(file)}`)
    const { script, checksum } = compileCached(file, cacheFile)
    if (script.cachedDataRejected !== false)
      fresh.set(cacheFile, () => withChecksums(checksum, script.createCachedData()))
    const require = (id: string): unknown => (id.startsWith('.') ? load(join(dirname(file), id)) : requirePackage(id))
    const body: ModuleBody = script.runInThisContext()
    body(module.exports, require, module, file, dirname(file))
    return module.exports
  }
  // Only at exit is it known which functions were used, so cache those. A long run has discarded the code of its start.
  process.once('exit', () => {
    if (process.uptime() < longRunSeconds && cachedDataVersionTag() === tag) writeCachedCode(fresh)
  })
  load(entry)
}

/** A function of its own: the closures of a loaded module would keep the bytes of its source for as long as the process runs. */
function compileCached(file: string, cacheFile: string): { readonly script: Script; readonly checksum: number } {
  const bytes = readFileSync(file)
  const checksum = crc32(bytes)
  const cachedData = readCachedCode(cacheFile, checksum)
  // The build leaves only ASCII, which V8 keeps in half the memory if it knows.
  const source = bytes.toString(isAscii(bytes) ? 'latin1' : 'utf8')
  const script = new Script(`${wrapperStart}${source}\n})`, {
    filename: file,
    columnOffset: -wrapperStart.length,
    ...(cachedData && { cachedData }),
  })
  return { script, checksum }
}

const longRunSeconds = 60
const checksumBytes = 8

/** V8 trusts its cache: it would run the code of another source of the same length, and it crashes on damaged bytes. */
function readCachedCode(file: string, sourceChecksum: number): Buffer | undefined {
  try {
    const stored = readFileSync(file)
    const data = stored.subarray(checksumBytes)
    const isOurs = stored.readUInt32LE(0) === sourceChecksum && stored.readUInt32LE(4) === crc32(data)
    return isOurs ? data : undefined
  } catch {
    return undefined
  }
}

function withChecksums(sourceChecksum: number, data: Buffer): Buffer {
  const head = Buffer.alloc(checksumBytes)
  head.writeUInt32LE(sourceChecksum, 0)
  head.writeUInt32LE(crc32(data), 4)
  return Buffer.concat([head, data])
}

function writeCachedCode(fresh: ReadonlyMap<string, () => Buffer>): void {
  try {
    for (const [file, bytes] of fresh) {
      mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
      writeFileSync(`${file}.${process.pid}`, bytes())
      renameSync(`${file}.${process.pid}`, file)
    }
  } catch {
    // A full disk, or a folder of another user: the cache is only an optimisation.
  }
}
