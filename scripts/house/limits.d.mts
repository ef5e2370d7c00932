type Source = { readonly path: string; readonly text: string }

export const limits: { readonly filesPerFolder: number; readonly moduleLets: number; readonly modeBranches: number }
export function countWayQuestions(sources: readonly Source[]): number
export function countModuleLets(sources: readonly Source[]): number
export function countModeBranches(sources: readonly Source[]): number
export function folderSizes(sources: readonly Source[]): [string, number][]
export function findExcess(sources: readonly Source[]): string[]
