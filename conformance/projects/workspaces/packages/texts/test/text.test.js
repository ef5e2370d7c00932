import assert from 'node:assert/strict'
import { test } from 'node:test'
import { shout } from '../src/text.js'

test('shout writes in capitals', () => {
  assert.equal(shout('a'), 'A')
})
