import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { brotliDecompressSync } from 'node:zlib'

type PackHeader = {
  readonly attempts: readonly { readonly name: string; readonly files: readonly (readonly [string, number])[] }[]
}

/** The files of all packed attempts of a state, by `<attempt>/<file>`. Reads the format by itself. */
export function readPacked(state: string): Map<string, Buffer> {
  const folder = join(state, 'packed')
  const found = new Map<string, Buffer>()
  for (const name of existsSync(folder) ? readdirSync(folder).filter((one) => one.endsWith('.pack')) : []) {
    const bytes = readFileSync(join(folder, name))
    const content = brotliDecompressSync(bytes.subarray(bytes.indexOf(10) + 1))
    let at = content.indexOf(10) + 1
    const { attempts }: PackHeader = JSON.parse(content.toString('utf8', 0, at))
    for (const attempt of attempts) {
      for (const [file, size] of attempt.files) found.set(`${attempt.name}/${file}`, content.subarray(at, (at += size)))
    }
  }
  return found
}
