import type { TerminalPaint } from '../io/paint.ts'

export type ScreenSize = { readonly columns: number; readonly rows: number }

/** What every part of the live view needs for drawing. */
export type DrawContext = {
  readonly paint: TerminalPaint
  readonly size: ScreenSize
  readonly now: number
  readonly project: string
}

/** The room of a part. */
export type ScreenBox = { readonly rows: number; readonly width: number }
