import { formatCount } from '../../words/counts.ts'

/** +412 −96; omits zeros. */
export const DiffSize = ({ added, removed }: { added: number; removed: number }) => (
  <span className="whitespace-nowrap">
    {added > 0 && <span className="text-ok">+{formatCount(added)}</span>}
    {added > 0 && removed > 0 && ' '}
    {removed > 0 && <span className="text-bad">−{formatCount(removed)}</span>}
  </span>
)
