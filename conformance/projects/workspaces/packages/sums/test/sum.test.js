import { test } from 'node:test'
import { largest, mean, sum } from '../src/sum.js'
import assert from 'node:assert/strict'

test('sum adds numbers up', () => {
  assert.equal(sum([1, 2, 3]), 6)
})

test('sum of no numbers is 0', () => {
  assert.equal(sum([]), 0)
})

test('mean divides the sum', () => {
  assert.equal(mean([2, 4]), 3)
})

test('largest finds the largest number', () => {
  assert.equal(largest([1, 3, 2]), 3)
})
