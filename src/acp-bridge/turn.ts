import {
  type ClientContext,
  type InitializeResponse,
  methods,
  type NewSessionResponse,
  PROTOCOL_VERSION,
} from '@agentclientprotocol/sdk'
import type { BridgeOptions } from './options.ts'

/** A request that the agent cannot fulfil, and that a new attempt would not change. */
export class RefusedError extends Error {}

/** Runs the turn from the first message to the end. The log has the agent's answers; here they only have to arrive. */
export async function runTurn(
  agent: ClientContext,
  options: BridgeOptions,
  prompt: string,
  onSession: (id: string) => void,
) {
  const about = await agent.request(methods.agent.initialize, {
    protocolVersion: PROTOCOL_VERSION,
    clientInfo: { name: 'ralph', version: '1' },
    clientCapabilities: { fs: { readTextFile: false, writeTextFile: false }, terminal: false },
  })
  if (about.protocolVersion !== PROTOCOL_VERSION) {
    throw new RefusedError(`the agent speaks version ${about.protocolVersion} of the protocol, not ${PROTOCOL_VERSION}`)
  }
  await logIn(agent, about, options)
  const sessionId = await openAgentSession(agent, about, options)
  onSession(sessionId)
  await agent.request(methods.agent.session.prompt, { sessionId, prompt: [{ type: 'text', text: prompt }] })
  if (about.agentCapabilities?.sessionCapabilities?.close) {
    await agent.request(methods.agent.session.close, { sessionId }).catch(() => {})
  }
}

async function logIn(agent: ClientContext, about: InitializeResponse, { auth }: BridgeOptions): Promise<void> {
  if (!auth || !process.env[auth.variable]) return
  if (!about.authMethods?.some(({ id }) => id === auth.method)) return
  await agent.request(methods.agent.authenticate, { methodId: auth.method })
}

async function openAgentSession(
  agent: ClientContext,
  about: InitializeResponse,
  options: BridgeOptions,
): Promise<string> {
  const { cwd, resume } = options
  if (resume === undefined) {
    const session = await agent.request(methods.agent.session.new, { cwd, mcpServers: [] })
    await chooseModel(agent, session, options)
    return session.sessionId
  }
  const known = { sessionId: resume, cwd, mcpServers: [] }
  if (about.agentCapabilities?.sessionCapabilities?.resume) await agent.request(methods.agent.session.resume, known)
  else if (about.agentCapabilities?.loadSession) await agent.request(methods.agent.session.load, known)
  else throw new RefusedError('the agent cannot resume a session')
  return resume
}

/** The model is one of the settings that an agent offers for a session; throws `Refused` for a name that it does not offer. */
async function chooseModel(agent: ClientContext, session: NewSessionResponse, { model }: BridgeOptions): Promise<void> {
  if (model === undefined) return
  const setting = session.configOptions?.find(({ category }) => category === 'model')
  if (setting?.type !== 'select') throw new RefusedError('the agent does not offer a choice of models')
  const offered = setting.options.flatMap((option) => ('options' in option ? option.options : [option]))
  const value = offered.find((option) => option.value === model || option.name === model)?.value
  if (value === undefined) {
    throw new RefusedError(
      `the agent has no model "${model}"; it has ${offered.map((option) => option.value).join(', ')}`,
    )
  }
  await agent.request(methods.agent.session.setConfigOption, {
    sessionId: session.sessionId,
    configId: setting.id,
    value,
  })
}
