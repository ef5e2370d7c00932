import { z } from 'zod'
import { CreatedJoinToken, Machine, Preflight, Version } from './machine.ts'
import { GrantFolder, MachineGrant, MachineGrantLevel } from './machine-grant.ts'
import { resourceName, emptyBody, programName } from './page.ts'
import type { Route } from './route.ts'

export const machineRoutes = {
  listMachines: {
    method: 'GET',
    path: '/api/machines',
    needs: 'signed-in',
    summary: 'Machines: computers that run an agents-server',
    response: z.object({ items: z.array(Machine) }),
  },
  makeJoinToken: {
    method: 'POST',
    path: '/api/machines/tokens',
    creates: true,
    needs: 'admin',
    summary: 'Creates a token with which one machine can join within 15 minutes',
    body: z.strictObject({
      name: resourceName.optional(),
      labels: z.array(resourceName).max(20).optional(),
      approve: z.boolean().optional().describe('An admin must approve the machine before it can connect'),
    }),
    response: CreatedJoinToken,
  },
  changeMachine: {
    method: 'PATCH',
    path: '/api/machines/{machineId}',
    needs: 'admin',
    summary: 'Approves, cordons, drains or frees a machine (which clears its alarm); sets labels and slots',
    body: z.strictObject({
      status: z.enum(['active', 'cordoned', 'draining']).optional(),
      name: resourceName.optional(),
      labels: z.array(resourceName).max(20).optional(),
      slots: z.int().min(0).max(1000).optional(),
    }),
    response: Machine,
  },
  revokeMachine: {
    method: 'POST',
    path: '/api/machines/{machineId}/revoke',
    needs: 'admin',
    summary: "Revokes the machine's certificate and closes its connection",
    body: emptyBody,
    response: Machine,
  },
  updateMachine: {
    method: 'POST',
    path: '/api/machines/{machineId}/update',
    needs: 'admin',
    summary: 'Installs a version of Ralph as configured on the machine; its agents keep running',
    body: z.strictObject({ version: Version.optional().describe('Defaults to the version of the backend') }),
    response: Machine,
  },
  listMachineGrants: {
    method: 'GET',
    path: '/api/machines/{machineId}/grants',
    needs: 'signed-in',
    machine: 'manage',
    summary: 'Users who may run agents on this machine, besides its owner',
    response: z.object({ items: z.array(MachineGrant) }),
  },
  grantMachine: {
    method: 'PUT',
    path: '/api/machines/{machineId}/grants/{userId}',
    needs: 'signed-in',
    machine: 'manage',
    summary: 'Lets a user run agents on a machine that its owner shares; null revokes it',
    body: z.strictObject({ level: MachineGrantLevel.nullable(), roots: z.array(GrantFolder).max(50).default([]) }),
    response: z.object({ items: z.array(MachineGrant) }),
  },
  preflight: {
    method: 'POST',
    path: '/api/machines/{machineId}/preflight',
    needs: 'signed-in',
    machine: 'run',
    summary: 'Whether an agent program could start there now',
    body: z.strictObject({ program: programName }),
    response: Preflight,
  },
} as const satisfies Record<string, Route>
