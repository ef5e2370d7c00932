import assert from 'node:assert/strict'

export function same(actual, expected) {
  assert.deepEqual(actual, expected)
}
