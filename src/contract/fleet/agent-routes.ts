import { z } from 'zod'
import { Agent, AgentRow, Conversation, Estimate, Note, Workspace } from './agent.ts'
import { StoredEvent } from './event.ts'
import { Done, PageQuery, pageOf, Uuid, name, nothing, program, someText } from './page.ts'
import { AgentPrompt } from './prompt.ts'
import { StartRalphMode, StopWhen } from './sprint.ts'
import { Access, AccessLevel } from './user.ts'
import type { Route } from './route.ts'

export const agentRoutes = {
  listAgents: {
    method: 'GET',
    path: '/api/agents',
    needs: 'signed-in',
    summary: 'The fleet: agents that you may see, with machine and sprint',
    query: PageQuery.extend({ archived: z.stringbool().default(false) }),
    response: pageOf(AgentRow),
  },
  createAgent: {
    method: 'POST',
    path: '/api/agents',
    needs: 'signed-in',
    summary: 'Makes an agent: a workspace on a machine in which an agent program works. You become its owner',
    body: z.strictObject({
      name,
      /** Not given: the machine with a free slot that has the program. */
      machineId: Uuid.optional(),
      labels: z.array(name).max(20).optional(),
      workspace: Workspace,
      program: program.optional(),
      model: name.optional(),
    }),
    response: Agent,
  },
  getAgent: {
    method: 'GET',
    path: '/api/agents/{agentId}',
    needs: 'read',
    summary: 'One agent, with machine and sprint',
    response: AgentRow,
  },
  changeAgent: {
    method: 'PATCH',
    path: '/api/agents/{agentId}',
    needs: 'owner',
    summary: 'Renames an agent, or changes what works in it',
    body: z.strictObject({ name: name.optional(), program: program.optional(), model: name.nullable().optional() }),
    response: Agent,
  },
  archiveAgent: {
    method: 'POST',
    path: '/api/agents/{agentId}/archive',
    needs: 'owner',
    summary: 'Ends what it does and puts it away; files stay on the machine',
    body: nothing,
    response: Agent,
  },
  startRalphMode: {
    method: 'POST',
    path: '/api/agents/{agentId}/ralph-mode/start',
    needs: 'write',
    summary: 'Ralph Mode: the agent works on a task, again and again with a fresh context, until it deletes its lock',
    body: StartRalphMode,
    response: z.object({ success: z.literal(true), agent: Agent, sprintId: Uuid }),
  },
  stopRalphMode: {
    method: 'POST',
    path: '/api/agents/{agentId}/ralph-mode/stop',
    needs: 'write',
    summary: 'Ends Ralph Mode: the turn by the chosen verb, queued Ralph prompts, the lock',
    body: z.strictObject({ when: StopWhen.default('now') }),
    response: z.object({ success: z.literal(true), agent: Agent }),
  },
  interruptAgent: {
    method: 'POST',
    path: '/api/agents/{agentId}/interrupt',
    needs: 'write',
    summary: 'Ends the prompt that is running; the loop, if there is one, is paused',
    body: nothing,
    response: Done,
  },
  resetAgent: {
    method: 'POST',
    path: '/api/agents/{agentId}/reset',
    needs: 'write',
    summary: 'Archives the conversation; the next prompt starts with a fresh context',
    body: nothing,
    response: Done,
  },
  listConversations: {
    method: 'GET',
    path: '/api/agents/{agentId}/conversations',
    needs: 'read',
    summary: 'Conversations before each reset, newest first',
    query: PageQuery,
    response: pageOf(Conversation),
  },
  listNotes: {
    method: 'GET',
    path: '/api/agents/{agentId}/notes',
    needs: 'read',
    summary: 'What the agent has written down for itself, as files',
    response: z.object({ folder: z.string(), lock: z.boolean().optional(), notes: z.array(Note) }),
  },
  listAccess: {
    method: 'GET',
    path: '/api/agents/{agentId}/access',
    needs: 'owner',
    summary: 'Who may do what with this agent',
    response: z.object({ items: z.array(Access) }),
  },
  giveAccess: {
    method: 'PUT',
    path: '/api/agents/{agentId}/access/{userId}',
    needs: 'owner',
    summary: 'Lets somebody read, write or own; null takes it away',
    body: z.strictObject({ level: AccessLevel.nullable() }),
    response: z.object({ items: z.array(Access) }),
  },
  detectChecks: {
    method: 'GET',
    path: '/api/agents/{agentId}/checks',
    needs: 'read',
    summary: 'Checks that were found in the project',
    response: z.object({ items: z.array(z.object({ name: z.string(), run: z.string() })) }),
  },
  estimate: {
    method: 'GET',
    path: '/api/agents/{agentId}/estimate',
    needs: 'read',
    summary: 'What an iteration of this agent took and cost so far',
    response: Estimate,
  },
} as const satisfies Record<string, Route>

export const promptRoutes = {
  listPrompts: {
    method: 'GET',
    path: '/api/agents/{agentId}/prompts',
    needs: 'read',
    summary: 'The queue: running, queued in order, then ended ones, newest first',
    query: PageQuery,
    response: pageOf(AgentPrompt),
  },
  listPromptEvents: {
    method: 'GET',
    path: '/api/agents/{agentId}/prompts/{promptId}/events',
    needs: 'read',
    summary: 'What happened during a prompt, newest first',
    query: PageQuery,
    response: pageOf(StoredEvent),
  },
  queuePrompt: {
    method: 'POST',
    path: '/api/agents/{agentId}/prompts',
    needs: 'write',
    summary: 'Puts a prompt into the queue',
    body: z.strictObject({ prompt: someText, model: name.optional() }),
    response: AgentPrompt,
  },
  cancelPrompt: {
    method: 'DELETE',
    path: '/api/agents/{agentId}/prompts/{promptId}',
    needs: 'write',
    summary: 'Takes a queued prompt out of the queue',
    response: AgentPrompt,
  },
  movePrompt: {
    method: 'POST',
    path: '/api/agents/{agentId}/prompts/{promptId}/move',
    needs: 'write',
    summary: 'Changes the order of the queue',
    body: z.strictObject({ before: Uuid.nullable().describe('The prompt that it goes in front of; null: to the end') }),
    response: AgentPrompt,
  },
} as const satisfies Record<string, Route>
