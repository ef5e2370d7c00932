import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { basename, dirname, join } from 'node:path'
import { Script } from 'node:vm'
import { crc32 } from 'node:zlib'

type Module = { exports: unknown }
type Scope = [exports: unknown, require: (id: string) => unknown, module: Module, file: string, folder: string]
type Body = (...scope: Scope) => void

const before = '(function (exports, require, module, __filename, __dirname) {'

/**
 * Runs a CommonJS file, and the files beside it that it requires, from the code that V8 compiled at an earlier start. Missing
 * entries are written to `folder` when the process exits. If nothing can be written, the next start is as slow as this one.
 */
export function requireKept(entry: string, folder: string): void {
  const kept = join(folder, `${process.version}-${process.arch}`)
  const modules = new Map<string, Module>()
  const fresh = new Map<string, () => Buffer>()
  const others = createRequire(entry)

  function load(file: string): unknown {
    const known = modules.get(file)
    if (known) return known.exports
    const module: Module = { exports: {} }
    modules.set(file, module)
    const source = readFileSync(file, 'utf8')
    const keptFile = join(kept, `${basename(dirname(file))}-${basename(file)}`)
    const cachedData = readKept(keptFile, source)
    const script = new Script(`${before}${source}\n})`, {
      filename: file,
      columnOffset: -before.length,
      ...(cachedData && { cachedData }),
    })
    if (script.cachedDataRejected !== false) fresh.set(keptFile, () => withHead(source, script.createCachedData()))
    const require = (id: string): unknown => (id.startsWith('.') ? load(join(dirname(file), id)) : others(id))
    const body: Body = script.runInThisContext()
    body(module.exports, require, module, file, dirname(file))
    return module.exports
  }
  // Only at exit is it known which functions were used, so cache those. A long run has discarded the code of its start.
  process.once('exit', () => process.uptime() < longRunSeconds && keep(fresh))
  load(entry)
}

const longRunSeconds = 60
const headBytes = 8

/** V8 trusts its cache: it would run the code of another source of the same length, and it crashes on damaged bytes. */
function readKept(file: string, source: string): Buffer | undefined {
  try {
    const bytes = readFileSync(file)
    const data = bytes.subarray(headBytes)
    const isOurs = bytes.readUInt32LE(0) === crc32(source) && bytes.readUInt32LE(4) === crc32(data)
    return isOurs ? data : undefined
  } catch {
    return undefined
  }
}

function withHead(source: string, data: Buffer): Buffer {
  const head = Buffer.alloc(headBytes)
  head.writeUInt32LE(crc32(source), 0)
  head.writeUInt32LE(crc32(data), 4)
  return Buffer.concat([head, data])
}

function keep(fresh: ReadonlyMap<string, () => Buffer>): void {
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
