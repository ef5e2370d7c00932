import type { Asker } from '../../fleet/ports.ts'
import type { Viewer } from '../../views/agents.ts'
import type { Who } from '../call.ts'

export const viewerOf = ({ user }: Who): Viewer => ({ userId: user.id, admin: user.role === 'admin' })

export const askerOf = ({ user }: Who): Asker => ({ name: user.name, userId: user.id })
