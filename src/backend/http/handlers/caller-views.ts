import type { Requester } from '../../fleet/fleet.ts'
import type { Viewer } from '../../views/agents.ts'
import type { ApiCaller } from '../calls/call.ts'

export const toViewer = ({ user }: ApiCaller): Viewer => ({ userId: user.id, admin: user.role === 'admin' })

export const toRequester = ({ user }: ApiCaller): Requester => ({ name: user.name, userId: user.id })
