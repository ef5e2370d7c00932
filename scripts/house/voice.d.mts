type Source = { readonly path: string; readonly text: string }
type Violation = { readonly path: string; readonly line: number; readonly rule: string; readonly text: string }

export function commentsIn(text: string): { readonly line: number; readonly text: string }[]
export function countOddWords(comments: readonly string[]): number
export function findViolations(source: Source): Violation[]
export function findOddProse(source: Source): Violation[]
