import { formatQuantity, parseQuantity } from './quantity.js'

/** '1/2 l milk' becomes { quantity: 0.5, name: 'l milk' } */
export function parseIngredient(line) {
  const [, quantity, name] = line.match(/^(\d[\d /]*) (.+)$/)
  return { quantity: parseQuantity(quantity), name }
}

export function formatIngredient({ quantity, name }) {
  return `${formatQuantity(quantity)} ${name}`
}
