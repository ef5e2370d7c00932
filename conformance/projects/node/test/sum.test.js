import { test } from 'node:test'
import { largest, mean, sum } from '../src/sum.js'
import { same } from '../support/same.js'

test('sum adds numbers up', () => {
  same(sum([1, 2, 3]), 6)
})

test('sum of no numbers is 0', () => {
  same(sum([]), 0)
})

test('mean divides the sum', () => {
  same(mean([2, 4]), 3)
})

test('largest finds the largest number', () => {
  same(largest([1, 3, 2]), 3)
})
