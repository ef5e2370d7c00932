import type { ReactNode } from 'react'
import { classes } from './classes.ts'

/** Parts with a dot between them. The dot before the first part of a wrapped line is clipped. */
export const Separated = ({ children, className }: { children: ReactNode; className?: string }) => (
  <span className={classes('block overflow-x-clip', className)}>
    <span className="-ml-3 flex flex-wrap items-center [&>*]:max-w-full [&>*]:min-w-0 [&>*]:pl-3 [&>*]:before:-ml-3 [&>*]:before:inline-block [&>*]:before:w-3 [&>*]:before:text-center [&>*]:before:content-['·']">
      {children}
    </span>
  </span>
)

/** Text on one line. Of a long path the folders are shortened, not the name of the file. */
export function PathText({ text, className }: { text: string; className?: string }) {
  const name = /^[^\s]*\/([^\s/]+)$/.exec(text)?.[1]
  const style = classes('font-mono text-sm', className)
  if (name === undefined) return <span className={classes('truncate', style)}>{text}</span>
  return (
    <span className={classes('flex min-w-0', style)} title={text}>
      <span className="truncate">{text.slice(0, -name.length)}</span>
      <span className="max-w-3/4 shrink-0 truncate">{name}</span>
    </span>
  )
}
