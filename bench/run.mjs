// npm run bench -- [name] [options]: one benchmark by its file name, or all of them in one table.
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const [name = 'all', ...rest] = process.argv.slice(2).filter((word) => word !== '--')
const named = !name.startsWith('-')
const file = new URL(`./${named ? name : 'all'}.mjs`, import.meta.url)
if (!existsSync(fileURLToPath(file))) {
  console.error(`there is no benchmark "${name}"; bench/ lists them`)
  process.exit(1)
}
process.argv.splice(2, process.argv.length, ...(named ? rest : [name, ...rest]))
await import(file)
