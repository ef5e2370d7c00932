import { cornerCases } from './cases/corners.mjs'
import { deputyCases } from './cases/deputy.mjs'
import { files } from './cases/files.mjs'
import { interfaceCases } from './cases/interfaces.mjs'
import { laterCases } from './cases/later.mjs'
import { laterToolCases } from './cases/later-tools.mjs'
import { mechanismCases } from './cases/mechanisms.mjs'
import { networkCases } from './cases/network.mjs'
import { plantedCases } from './cases/planted.mjs'
import { sessionCases } from './cases/sessions.mjs'
import { stateCases } from './cases/state.mjs'
import { systemCases } from './cases/system.mjs'

/** Every way out that was thought of. `id` is unique within its class. */
export const corpus = [
  ...files,
  ...stateCases,
  ...systemCases,
  ...networkCases,
  ...deputyCases,
  ...plantedCases,
  ...mechanismCases,
  ...sessionCases,
  ...interfaceCases,
  ...laterCases,
  ...laterToolCases,
  ...cornerCases,
]
