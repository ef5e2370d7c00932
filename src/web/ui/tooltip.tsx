import { Tooltip as Base } from '@base-ui/react/tooltip'
import type { ReactElement, ReactNode } from 'react'

/** Shows `content` while the user hovers or focuses the child. Never the only place that shows a fact. */
export const Tooltip = ({ content, children }: { content: ReactNode; children: ReactElement }) => (
  <Base.Root>
    <Base.Trigger render={children} delay={250} />
    <Base.Portal>
      <Base.Positioner sideOffset={8} className="z-50">
        <Base.Popup className="max-w-80 rounded-lg border border-line bg-panel px-3 py-2 text-sm shadow-pop">
          {content}
        </Base.Popup>
      </Base.Positioner>
    </Base.Portal>
  </Base.Root>
)
