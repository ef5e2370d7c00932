import { useState } from 'react'
import { formatCount } from '../../words/counts.ts'
import type { DiffLine } from '../words/line-diff.ts'
import { Button } from './button.tsx'
import { classes } from './classes.ts'

const looks = {
  same: '',
  add: 'bg-ok-bg',
  del: 'bg-bad-bg',
  hunk: 'text-faint bg-sunken',
} as const
const signs = { same: ' ', add: '+', del: '−', hunk: '' } as const

/** Maximum number of lines rendered at once; more on demand. */
const linesPerPage = 400

export function DiffLines({ lines }: { lines: readonly DiffLine[] }) {
  const [shown, setShown] = useState(linesPerPage)
  return (
    <>
      <pre tabIndex={0} className="overflow-x-auto py-1.5 font-mono text-sm leading-[1.6]">
        <code className="block w-max min-w-full">
          {lines.slice(0, shown).map((line, number) => (
            // oxlint-disable-next-line react/no-array-index-key -- lines have no other name and never move
            <span key={number} className={classes('block px-3.5', looks[line.kind])}>
              <span aria-hidden className="mr-1.5 inline-block w-2.5 text-faint select-none">
                {signs[line.kind]}
              </span>
              {line.text}
              {'\n'}
            </span>
          ))}
        </code>
      </pre>
      {lines.length > shown && (
        <Button size="small" kind="ghost" className="mx-3 mb-2" onClick={() => setShown(shown + 4000)}>
          {lines.length - shown} more lines
        </Button>
      )}
    </>
  )
}

/** +412 −96; omits zeros. */
export const DiffSize = ({ added, removed }: { added: number; removed: number }) => (
  <span className="whitespace-nowrap">
    {added > 0 && <span className="text-ok">+{formatCount(added)}</span>}
    {added > 0 && removed > 0 && ' '}
    {removed > 0 && <span className="text-bad">−{formatCount(removed)}</span>}
  </span>
)
