// Knows what is right and never loads the code under test: asks a command for sums of numbers that it has just drawn.
import { randomInt } from 'node:crypto'
import { spawnSync } from 'node:child_process'

const [program, ...words] = process.argv[2].split(' ')
// Code that looks for the loop finds nothing.
const env = Object.fromEntries(Object.entries(process.env).filter(([key]) => !key.startsWith('RALPH')))

for (let round = 0; round < 3; round++) {
  const numbers = Array.from({ length: 4 + round }, () => randomInt(1000, 1_000_000))
  const { stdout } = spawnSync(program, [...words, ...numbers.map(String)], { env, encoding: 'utf8', timeout: 60_000 })
  const expected = numbers.reduce((total, number) => total + number)
  if (stdout?.trim() !== String(expected)) {
    console.log('the sum is wrong')
    process.exit(1)
  }
}
