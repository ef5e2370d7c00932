import assert from 'node:assert/strict'
import { test } from 'node:test'
import { formatIngredient, parseIngredient } from '../src/ingredient.js'
import { formatQuantity, parseQuantity } from '../src/quantity.js'
import { serve } from '../src/recipe.js'

test('reads a whole number', () => assert.equal(parseQuantity('2'), 2))
test('reads a fraction', () => assert.equal(parseQuantity('3/4'), 0.75))
test('reads a mixed number', () => assert.equal(parseQuantity('1 1/2'), 1.5))
test('writes a whole number', () => assert.equal(formatQuantity(3), '3'))
test('writes a fraction', () => assert.equal(formatQuantity(0.75), '3/4'))
test('writes a mixed number', () => assert.equal(formatQuantity(1.5), '1 1/2'))

test('splits the quantity from the name', () => {
  assert.deepEqual(parseIngredient('1/2 l milk'), { quantity: 0.5, name: 'l milk' })
})

test('takes a pinch of salt as it is', () => {
  assert.deepEqual(parseIngredient('a pinch of salt'), { name: 'a pinch of salt' })
  assert.equal(formatIngredient({ name: 'a pinch of salt' }), 'a pinch of salt')
})

const pancakes = {
  serves: 4,
  ingredients: ['250 g flour', '1/2 l milk', '2 eggs', '1 1/2 tbsp sugar', 'a pinch of salt'],
}

test('feeds eight guests', () => {
  const ingredients = ['500 g flour', '1 l milk', '4 eggs', '3 tbsp sugar', 'a pinch of salt']
  assert.deepEqual(serve(pancakes, 8), { serves: 8, ingredients })
})

test('feeds six guests', () => {
  const ingredients = ['375 g flour', '3/4 l milk', '3 eggs', '2 1/4 tbsp sugar', 'a pinch of salt']
  assert.deepEqual(serve(pancakes, 6), { serves: 6, ingredients })
})

test('never asks anybody to crack half an egg', () => {
  assert.equal(serve(pancakes, 5).ingredients[2], '3 eggs')
})
