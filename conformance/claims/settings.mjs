import { hasTool } from './tools.mjs'

/** The settings under which the corpus runs. `heldOut` adds the oracle as a held-out check. */
export const settings = [
  {
    name: 'default',
    title: () =>
      hasTool('bwrap') ? 'default settings, bubblewrap there' : 'default settings (bubblewrap is not on this machine)',
  },
  { name: 'no-sandbox', title: () => 'without bubblewrap (`sandbox: off`)', sprint: { sandbox: 'off' } },
  { name: 'held-out', title: () => 'default settings and a held-out check', heldOut: true },
]
