import { createFakeId } from './fake-fleet.ts'

const patch = `--- a/src/auth/refresh.ts
+++ b/src/auth/refresh.ts
@@ -8,9 +8,12 @@ export async function rotate(token) {
   const row = await store.find(token.id)
-  if (!row) throw new Unauthorized()
+  if (!row || row.usedAt) {
+    await store.revokeFamily(token.family)
+    throw new Unauthorized('token reuse')
+  }
   return issue(row.userId, token.family)
 }
`

export const diff = {
  from: 'refs/ralph/auth/7',
  to: 'refs/ralph/auth/8',
  files: [
    { path: 'src/auth/refresh.ts', added: 4, removed: 1, patch },
    { path: 'src/auth/store.ts', added: 31, removed: 2, patch: patch.replaceAll('refresh', 'store') },
    {
      path: 'test/refresh.test.ts',
      added: 88,
      removed: 0,
      patch: '@@ -0,0 +1,2 @@\n+import { expect } from "vitest"\n+it("rotates", () => {})\n',
    },
    { path: 'assets/logo.png', added: 0, removed: 0 },
  ],
  truncated: false,
}

export const finishable = {
  root: '/home/ada/shop',
  branch: 'main',
  files: diff.files.map(({ path, added, removed }) => ({ path, added, removed })),
  moreFiles: 0,
  mixed: [],
  untouched: ['notes/todo.md'],
  edited: [],
  conflicts: [],
}

export const usageRows = () =>
  Array.from({ length: 14 }, (_, day) =>
    ['api-server', 'web', 'billing'].map((agentName, n) => ({
      day: new Date(Date.now() - (13 - day) * 86_400_000).toISOString().slice(0, 10),
      agentId: createFakeId(`agent ${agentName}`),
      agentName,
      model: 'opus',
      costUsd: ((day * 7 + n * 5) % 9) + 1.4,
      unpriced: 0,
      inputTokens: 200_000 + day * 9000,
      outputTokens: 31_000,
      cacheReadTokens: 900_000,
      cacheWriteTokens: 40_000,
      iterations: 6 + n,
    })),
  ).flat()

export const budgets = () => {
  const common = { createdBy: 'Ada', createdAt: Date.UTC(2026, 10, 2), unpriced: 0, hard: true }
  const tomorrow = Date.now() + 9 * 3_600_000
  return [
    {
      ...common,
      id: createFakeId('budget of the fleet'),
      scope: 'fleet',
      period: 'month',
      limitUsd: 500,
      spentUsd: 212.4,
      forecastUsd: 371,
      state: 'within',
      resetsAt: tomorrow + 12 * 86_400_000,
    },
    {
      ...common,
      id: createFakeId('budget of a label'),
      scope: 'label',
      subject: 'gpu',
      subjectName: 'gpu',
      period: 'day',
      limitUsd: 20,
      spentUsd: 20.1,
      forecastUsd: 26.3,
      state: 'spent',
      resetsAt: tomorrow,
    },
  ]
}

export const ada = {
  id: createFakeId('ada'),
  name: 'Ada',
  email: 'ada@example.org',
  role: 'admin',
  createdAt: Date.UTC(2026, 9, 1),
} as const

export const users = [
  ada,
  {
    id: createFakeId('grace'),
    name: 'Grace',
    email: 'grace@example.org',
    role: 'member',
    createdAt: Date.UTC(2026, 10, 2),
  },
]
