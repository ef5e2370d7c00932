import { largest, sum } from './sum.js'

export function report(numbers) {
  return `sum ${sum(numbers)}\nlargest ${largest(numbers)}\n`
}
