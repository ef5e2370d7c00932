import { sum } from '../packages/sums/src/sum.js'

console.log(String(sum(process.argv.slice(2).map(Number))))
