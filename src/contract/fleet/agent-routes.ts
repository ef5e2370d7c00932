import { z } from 'zod'
import { Agent, FleetRow, Conversation, Estimate, AgentNote, AgentWorkspace } from './agent.ts'
import { StoredEvent } from './event.ts'
import {
  DoneResponse,
  PageQuery,
  pageSchema,
  Uuid,
  resourceName,
  emptyBody,
  programName,
  requiredText,
} from './page.ts'
import { AgentPrompt } from './prompt.ts'
import { StartRalphMode, StopWhen } from './sprint.ts'
import { Access, AccessLevel } from './user.ts'
import type { Route } from './route.ts'

export const agentRoutes = {
  listAgents: {
    method: 'GET',
    path: '/api/agents',
    needs: 'signed-in',
    summary: 'The fleet: agents you can access, with machine and sprint',
    query: PageQuery.extend({ archived: z.stringbool().default(false) }),
    response: pageSchema(FleetRow),
  },
  createAgent: {
    method: 'POST',
    path: '/api/agents',
    creates: true,
    needs: 'signed-in',
    summary: 'Creates an agent: a workspace on a machine in which an agent program works. You become its owner',
    body: z.strictObject({
      name: resourceName,
      /** Defaults to a machine that has the program and a free slot. */
      machineId: Uuid.optional(),
      labels: z.array(resourceName).max(20).optional(),
      workspace: AgentWorkspace,
      program: programName.optional(),
      model: resourceName.optional(),
    }),
    response: Agent,
  },
  getAgent: {
    method: 'GET',
    path: '/api/agents/{agentId}',
    needs: 'read',
    summary: 'One agent, with machine and sprint',
    response: FleetRow,
  },
  changeAgent: {
    method: 'PATCH',
    path: '/api/agents/{agentId}',
    needs: 'owner',
    summary: 'Renames an agent, or changes its program or model',
    body: z.strictObject({
      name: resourceName.optional(),
      program: programName.optional(),
      model: resourceName.nullable().optional(),
    }),
    response: Agent,
  },
  archiveAgent: {
    method: 'POST',
    path: '/api/agents/{agentId}/archive',
    needs: 'owner',
    summary: 'Stops an agent and archives it; its files stay on the machine',
    body: emptyBody,
    response: Agent,
  },
  startRalphMode: {
    method: 'POST',
    path: '/api/agents/{agentId}/ralph-mode/start',
    needs: 'write',
    machine: 'run',
    summary: 'Starts Ralph Mode: the agent works on a task, each time with a fresh context, until it deletes its lock',
    body: StartRalphMode,
    response: z.object({ success: z.literal(true), agent: Agent, sprintId: Uuid }),
  },
  stopRalphMode: {
    method: 'POST',
    path: '/api/agents/{agentId}/ralph-mode/stop',
    needs: 'write',
    summary: 'Stops Ralph Mode: ends the turn as chosen, cancels queued Ralph prompts, removes the lock',
    body: z.strictObject({ when: StopWhen.default('now') }),
    response: z.object({ success: z.literal(true), agent: Agent }),
  },
  interruptAgent: {
    method: 'POST',
    path: '/api/agents/{agentId}/interrupt',
    needs: 'write',
    summary: 'Interrupts the running prompt; pauses the loop, if there is one',
    body: emptyBody,
    response: DoneResponse,
  },
  resetAgent: {
    method: 'POST',
    path: '/api/agents/{agentId}/reset',
    needs: 'write',
    summary: 'Archives the conversation; the next prompt starts with a fresh context',
    body: emptyBody,
    response: DoneResponse,
  },
  listConversations: {
    method: 'GET',
    path: '/api/agents/{agentId}/conversations',
    needs: 'read',
    summary: 'Archived conversations, newest first',
    query: PageQuery,
    response: pageSchema(Conversation),
  },
  listNotes: {
    method: 'GET',
    path: '/api/agents/{agentId}/notes',
    needs: 'read',
    summary: "The agent's own notes, as files",
    response: z.object({ folder: z.string(), lock: z.boolean().optional(), notes: z.array(AgentNote) }),
  },
  listAccess: {
    method: 'GET',
    path: '/api/agents/{agentId}/access',
    needs: 'owner',
    summary: 'Users with access to this agent',
    response: z.object({ items: z.array(Access) }),
  },
  giveAccess: {
    method: 'PUT',
    path: '/api/agents/{agentId}/access/{userId}',
    needs: 'owner',
    summary: 'Grants a user read, write or owner access; null revokes it',
    body: z.strictObject({ level: AccessLevel.nullable() }),
    response: z.object({ items: z.array(Access) }),
  },
  detectChecks: {
    method: 'GET',
    path: '/api/agents/{agentId}/checks',
    needs: 'read',
    summary: 'Checks detected in the project',
    response: z.object({ items: z.array(z.object({ name: z.string(), run: z.string() })) }),
  },
  estimate: {
    method: 'GET',
    path: '/api/agents/{agentId}/estimate',
    needs: 'read',
    summary: "Duration and cost of this agent's iterations so far",
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
    response: pageSchema(AgentPrompt),
  },
  listPromptEvents: {
    method: 'GET',
    path: '/api/agents/{agentId}/prompts/{promptId}/events',
    needs: 'read',
    summary: 'Events of a prompt, newest first',
    query: PageQuery,
    response: pageSchema(StoredEvent),
  },
  queuePrompt: {
    method: 'POST',
    path: '/api/agents/{agentId}/prompts',
    creates: true,
    needs: 'write',
    machine: 'run',
    summary: 'Adds a prompt to the queue',
    body: z.strictObject({ prompt: requiredText, model: resourceName.optional() }),
    response: AgentPrompt,
  },
  cancelPrompt: {
    method: 'DELETE',
    path: '/api/agents/{agentId}/prompts/{promptId}',
    needs: 'write',
    summary: 'Removes a queued prompt',
    response: AgentPrompt,
  },
  movePrompt: {
    method: 'POST',
    path: '/api/agents/{agentId}/prompts/{promptId}/move',
    needs: 'write',
    summary: 'Reorders the queue',
    body: z.strictObject({
      before: Uuid.nullable().describe('The prompt to insert it before; null: move it to the end'),
    }),
    response: AgentPrompt,
  },
} as const satisfies Record<string, Route>
