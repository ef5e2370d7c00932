export function findKnots(sources: readonly { readonly path: string; readonly text: string }[]): string[]
