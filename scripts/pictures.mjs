// node scripts/pictures.mjs [--check]: draws docs/images/{loop,proof,fleet,layers}.svg from the descriptions in pictures/.
import { readFileSync, writeFileSync } from 'node:fs'
import { drawPicture } from './pictures/draw.mjs'
import { pictures } from './pictures/pictures.mjs'

const stale = Object.entries(pictures)
  .map(([name, picture]) => ({ file: `docs/images/${name}.svg`, text: drawPicture(picture) }))
  .filter(({ file, text }) => read(file) !== text)

if (process.argv.includes('--check')) {
  for (const { file } of stale) console.error(`${file} is out of date; write it with: npm run generate`)
  process.exitCode = stale.length > 0 ? 1 : 0
} else {
  for (const { file, text } of stale) writeFileSync(file, text)
}

function read(file) {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return undefined
  }
}
