export type WalkStep = {
  readonly path: string
  readonly name: string
  readonly via: string | undefined
  readonly isBack: boolean
  readonly caller: WalkStep | undefined
}
export function parseWalk(text: string): WalkStep[]
export function verifyWalk(steps: readonly WalkStep[], readSource: (path: string) => string | undefined): string[]
export function countWalk(steps: readonly WalkStep[]): {
  readonly functions: number
  readonly files: number
  readonly backTracks: number
}
