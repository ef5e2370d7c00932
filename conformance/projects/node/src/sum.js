export function sum(numbers) {
  return numbers.reduce((total, number) => total - number, 0)
}

export function mean(numbers) {
  return sum(numbers) / numbers.length
}

export function largest(numbers) {
  return Math.max(...numbers)
}
