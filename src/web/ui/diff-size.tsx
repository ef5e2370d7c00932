import { count } from '../words/numbers.ts'

/** +412 −96; omits zeros. */
export const DiffSize = ({ added, removed }: { added: number; removed: number }) => (
  <span className="whitespace-nowrap">
    {added > 0 && <span className="text-ok">+{count(added).replace(' ', '')}</span>}
    {added > 0 && removed > 0 && ' '}
    {removed > 0 && <span className="text-bad">−{count(removed).replace(' ', '')}</span>}
  </span>
)
