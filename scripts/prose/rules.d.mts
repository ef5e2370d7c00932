export type ProseProblem = {
  readonly path: string
  readonly line: number
  readonly rule: string
  readonly text: string
}
export type PageFigures = { readonly words: number; readonly passive: number; readonly grade: number }
export type ExaminedPage = PageFigures & {
  readonly prose: readonly string[]
  readonly problems: readonly ProseProblem[]
}

export declare const limits: {
  readonly cell: number
  readonly sentence: number
  readonly words: number
  readonly passive: number
  readonly pagePassive: number
  readonly grade: number
  readonly pageGrade: number
}
export declare function isGenerated(path: string, text: string): boolean
export declare function examinePage(path: string, text: string): ExaminedPage
export declare function summarize(
  pages: readonly (ExaminedPage & { readonly path: string; readonly generated: boolean })[],
): PageFigures & { readonly problems: readonly ProseProblem[] }
