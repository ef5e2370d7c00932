/** '1 1/2' becomes 1.5 */
export function parseQuantity(text) {
  return Number(text)
}

/** 1.5 becomes '1 1/2' */
export function formatQuantity(number) {
  return String(number)
}
