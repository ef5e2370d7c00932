import { formatIngredient, parseIngredient } from './ingredient.js'

/** The same recipe for another number of guests. */
export function serve(recipe, guests) {
  const ingredients = recipe.ingredients.map(parseIngredient)
  return { serves: guests, ingredients: ingredients.map(formatIngredient) }
}
