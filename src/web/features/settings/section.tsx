import type { ReactNode } from 'react'

type SettingsSectionProps = { readonly title: string; readonly about?: string; readonly children: ReactNode }

/** What a setting is about, and beside it what can be changed: nothing stretches over a wide screen. */
export const SettingsSection = ({ title, about, children }: SettingsSectionProps) => (
  <section
    aria-label={title}
    className="grid gap-x-10 gap-y-2 px-3.5 py-4 md:grid-cols-[minmax(12rem,18rem)_minmax(0,46rem)]"
  >
    <div>
      <h2 className="font-semibold">{title}</h2>
      {about !== undefined && <p className="text-sm text-dim">{about}</p>}
    </div>
    <div className="min-w-0 space-y-3">{children}</div>
  </section>
)

/** Rows inside a section. */
export const SettingsList = ({ children, label }: { children: ReactNode; label: string }) => (
  <ul aria-label={label} className="divide-y divide-line rounded-md border border-line empty:hidden">
    {children}
  </ul>
)
