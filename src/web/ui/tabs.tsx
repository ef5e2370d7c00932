import { Tabs as Base } from '@base-ui/react/tabs'
import type { ReactNode } from 'react'

export type TabItem<K extends string> = { readonly key: K; readonly label: ReactNode }

type TabsProps<K extends string> = {
  readonly tabs: readonly TabItem<K>[]
  readonly value: K
  readonly onChange: (key: K) => void
  readonly label: string
  readonly children: ReactNode
  readonly aside?: ReactNode
}

/** The panel of the selected tab; the URL holds the selection, so it is a prop. */
export function Tabs<K extends string>({ tabs, value, onChange, label, children, aside }: TabsProps<K>) {
  return (
    <Base.Root value={value} onValueChange={(key: K) => onChange(key)} className="flex min-h-0 min-w-0 flex-1 flex-col">
      <div className="flex min-h-10 items-center border-b border-line pr-2 pl-1.5">
        <Base.List aria-label={label} className="flex min-w-0 flex-1 gap-0.5 overflow-x-auto">
          {tabs.map((tab) => (
            <Base.Tab
              key={tab.key}
              value={tab.key}
              className="flex h-10 items-center gap-1.5 border-b-2 border-transparent px-2.5 text-sm font-medium whitespace-nowrap text-dim -outline-offset-2 hover:text-text data-active:border-accent data-active:text-text"
            >
              {tab.label}
            </Base.Tab>
          ))}
        </Base.List>
        {aside}
      </div>
      <Base.Panel value={value} className="flex min-h-0 min-w-0 flex-1 flex-col outline-none" tabIndex={-1}>
        {children}
      </Base.Panel>
    </Base.Root>
  )
}
