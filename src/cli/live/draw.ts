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

export const formatClock = (ms: number): string => {
  const seconds = Math.max(0, Math.floor(ms / 1000))
  const hours = Math.floor(seconds / 3600)
  const minutes = Math.floor(seconds / 60) % 60
  const tail = String(seconds % 60).padStart(2, '0')
  return hours > 0 ? `${hours}:${String(minutes).padStart(2, '0')}:${tail}` : `${minutes}:${tail}`
}

export function formatAge(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1000))
  if (seconds < 60) return `${seconds} s`
  const minutes = Math.floor(seconds / 60)
  return minutes < 60 ? `${minutes} min` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`
}
