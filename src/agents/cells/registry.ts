import { bubblewrap } from './bubblewrap.ts'
import type { CellKind } from '../../contract/cell.ts'
import type { Cell } from './cell.ts'
import { container } from './container.ts'
import { namespaces } from './namespaces.ts'
import { none } from './none.ts'

/** Every member; adding one is a file and a row here. */
export const cells: Readonly<Record<CellKind, Cell>> = {
  bubblewrap,
  namespaces,
  container,
  none,
}

/** What `sandbox: auto` and `sandbox: required` try, best first. */
export const automaticCells: readonly Cell[] = [bubblewrap, namespaces]
