import type { ReactNode } from 'react'

/** The work, and beside it what belongs to it: below it where there is no room. Every page has the same width. */
export const WithAside = ({ children, aside }: { children: ReactNode; aside: ReactNode }) => (
  <div className="grid grid-cols-1 items-start gap-3.5 lg:grid-cols-[minmax(0,1fr)_360px] 2xl:grid-cols-[minmax(0,1fr)_480px]">
    <div className="min-w-0">{children}</div>
    <div className="min-w-0 space-y-3.5">{aside}</div>
  </div>
)
