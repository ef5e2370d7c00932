import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query'
import type { AgentPrompt } from '../../contract/fleet/prompt.ts'
import { api } from './api.ts'
import { hasHole, recallEvents } from './recent-events.ts'
import {
  appendToWindow,
  openMiddle,
  openWindow,
  type TranscriptScope,
  type TranscriptWindow,
} from './transcript-window.ts'

/** Query cache keys. `live.ts` writes to the same ones. */
export const keys = {
  me: ['me'],
  agents: ['agents'],
  agent: (agentId: string) => ['agent', agentId],
  prompts: (agentId: string) => ['prompts', agentId],
  sprint: (sprintId: string) => ['sprint', sprintId],
  iterations: (sprintId: string) => ['iterations', sprintId],
  events: (sprintId: string) => ['events', sprintId],
  diff: (sprintId: string) => ['diff', sprintId],
  machines: ['machines'],
  questions: ['questions'],
  usage: ['usage'],
} as const

export const meQuery = queryOptions({ queryKey: keys.me, queryFn: ({ signal }) => api.me({}, { signal }) })

/** Loads the whole fleet: sorting by "needs you" requires every row. */
export const agentsQuery = queryOptions({
  queryKey: keys.agents,
  queryFn: ({ signal }) => fetchAllPages((cursor) => api.listAgents({ cursor, limit: 200 }, { signal })),
})

export const agentQuery = (agentId: string) =>
  queryOptions({ queryKey: keys.agent(agentId), queryFn: ({ signal }) => api.getAgent({ agentId }, { signal }) })

export const waysToSignInQuery = queryOptions({
  queryKey: ['ways-to-sign-in'],
  queryFn: ({ signal }) => api.waysToSignIn({}, { signal }),
})

export const promptEventsQuery = ({ agentId, id: promptId }: Pick<AgentPrompt, 'agentId' | 'id'>) =>
  queryOptions({
    queryKey: ['prompt-events', agentId, promptId],
    queryFn: ({ signal }) => api.listPromptEvents({ agentId, promptId, limit: 200 }, { signal }),
  })

export const promptsQuery = (agentId: string) =>
  queryOptions({
    queryKey: keys.prompts(agentId),
    queryFn: async ({ signal }) => (await api.listPrompts({ agentId, limit: 100 }, { signal })).items,
  })

export const sprintsQuery = (agentId: string) =>
  queryOptions({
    queryKey: ['sprints', agentId],
    queryFn: async ({ signal }) => (await api.listSprints({ agentId, limit: 50 }, { signal })).items,
  })

export const conversationsQuery = (agentId: string) =>
  queryOptions({
    queryKey: ['conversations', agentId],
    queryFn: async ({ signal }) => (await api.listConversations({ agentId, limit: 100 }, { signal })).items,
  })

export const notesQuery = (agentId: string) =>
  queryOptions({ queryKey: ['notes', agentId], queryFn: ({ signal }) => api.listNotes({ agentId }, { signal }) })

export const accessQuery = (agentId: string) =>
  queryOptions({
    queryKey: ['access', agentId],
    queryFn: async ({ signal }) => (await api.listAccess({ agentId }, { signal })).items,
  })

export const checksQuery = (agentId: string) =>
  queryOptions({
    queryKey: ['checks', agentId],
    queryFn: async ({ signal }) => (await api.detectChecks({ agentId }, { signal })).items,
    staleTime: 60_000,
  })

export const estimateQuery = (agentId: string) =>
  queryOptions({
    queryKey: ['estimate', agentId],
    queryFn: ({ signal }) => api.estimate({ agentId }, { signal }),
    staleTime: 60_000,
  })

export const preflightQuery = (machineId: string, program: string) =>
  queryOptions({
    queryKey: ['preflight', machineId, program],
    queryFn: ({ signal }) => api.preflight({ machineId, program }, { signal }),
    staleTime: 30_000,
  })

export const sprintQuery = (sprintId: string) =>
  queryOptions({ queryKey: keys.sprint(sprintId), queryFn: ({ signal }) => api.getSprint({ sprintId }, { signal }) })

/** All receipts, oldest first: the strip and the grid of checks show every iteration. */
export const iterationsQuery = (sprintId: string) =>
  queryOptions({
    queryKey: keys.iterations(sprintId),
    queryFn: async ({ signal }) =>
      (await fetchAllPages((cursor) => api.listIterations({ sprintId, cursor, limit: 200 }, { signal }))).toReversed(),
  })

export const eventsPageSize = 200

/** The newest part of a transcript, as much as requested. */
export const transcriptQuery = (sprintId: string, scope: TranscriptScope) =>
  queryOptions({
    queryKey: [...keys.events(sprintId), scope],
    queryFn: async ({ signal }): Promise<TranscriptWindow> => {
      const load = async (): Promise<TranscriptWindow> => {
        const { at, ...filter } = scope
        const list = (part: { before?: number; after?: number }) =>
          api.listEvents({ sprintId, ...filter, ...part, limit: eventsPageSize }, { signal })
        const window =
          at === undefined
            ? openWindow(await list({}))
            : openMiddle(...(await Promise.all([list({ before: at }), list({ after: at - 1 })])))
        return appendToWindow(window, recallEvents(sprintId), scope)
      }
      const window = await load()
      return hasHole(window, scope) ? load() : window
    },
    structuralSharing: false,
    gcTime: 60_000,
  })

/** The reason that Ralph gave when it refused the claim of an iteration; empty if it gave none. */
export const claimReasonQuery = (sprintId: string, iteration: number) =>
  queryOptions({
    queryKey: [...keys.iterations(sprintId), 'claim-reason', iteration],
    queryFn: async ({ signal }) => {
      const scope = { sprintId, iteration, kind: 'other', limit: 200 } as const
      const { items } = await api.listEvents(scope, { signal })
      return items.flatMap(({ event }) => (event.type === 'claim-refused' ? [event.reason] : []))[0] ?? ''
    },
  })

export const outlineQuery = (sprintId: string) =>
  queryOptions({
    queryKey: [...keys.iterations(sprintId), 'outline'],
    queryFn: ({ signal }) => api.outlineSprint({ sprintId }, { signal }),
    staleTime: 10_000,
  })

export const diffQuery = (sprintId: string, range: { readonly from?: number; readonly to?: number }) =>
  queryOptions({
    queryKey: [...keys.diff(sprintId), range],
    queryFn: ({ signal }) => api.diffSprint({ sprintId, ...range }, { signal }),
    staleTime: 10_000,
  })

/** Read each time the dialog opens: the user may change files in between. */
export const finishQuery = (sprintId: string) =>
  queryOptions({
    queryKey: [...keys.diff(sprintId), 'finish'],
    queryFn: ({ signal }) => api.previewFinish({ sprintId }, { signal }),
    staleTime: 0,
    gcTime: 0,
  })

export const restorePreviewQuery = (sprintId: string, iteration: number) =>
  queryOptions({
    queryKey: [...keys.diff(sprintId), 'restore', iteration],
    queryFn: ({ signal }) => api.previewRestore({ sprintId, iteration }, { signal }),
    staleTime: 0,
    gcTime: 0,
  })

export const machinesQuery = queryOptions({
  queryKey: keys.machines,
  queryFn: async ({ signal }) => (await api.listMachines({}, { signal })).items,
})

/** Every open question, however old, and the newest settled ones: the API lists open questions first. */
export const questionsQuery = queryOptions({
  queryKey: keys.questions,
  queryFn: async ({ signal }) => {
    const all = await fetchAllPages(
      (cursor) => api.listQuestions({ cursor, limit: 200 }, { signal }),
      ({ status }) => status === 'open',
    )
    // A question that a user answers between two pages is in both.
    return [...new Map(all.map((question) => [question.id, question])).values()]
  },
})

export const usageQuery = queryOptions({
  queryKey: keys.usage,
  queryFn: ({ signal }) => api.usage({ days: 30 }, { signal }),
  staleTime: 60_000,
  refetchInterval: 60_000,
})

export const budgetsQuery = queryOptions({
  queryKey: ['budgets'],
  queryFn: async ({ signal }) => (await api.listBudgets({}, { signal })).items,
  staleTime: 60_000,
  refetchInterval: 60_000,
})

export const usersQuery = queryOptions({
  queryKey: ['users'],
  queryFn: async ({ signal }) => (await api.listUsers({}, { signal })).items,
})

export const passkeysQuery = queryOptions({
  queryKey: ['passkeys'],
  queryFn: async ({ signal }) => (await api.listPasskeys({}, { signal })).items,
})

export const tokensQuery = queryOptions({
  queryKey: ['tokens'],
  queryFn: async ({ signal }) => (await api.listTokens({}, { signal })).items,
})

export const webhooksQuery = queryOptions({
  queryKey: ['webhooks'],
  queryFn: async ({ signal }) => (await api.listWebhooks({}, { signal })).items,
})

export const deliveriesQuery = infiniteQueryOptions({
  queryKey: ['deliveries'],
  queryFn: ({ signal, pageParam }) => api.listDeliveries({ cursor: pageParam, limit: 50 }, { signal }),
  initialPageParam: undefined as string | undefined,
  getNextPageParam: (page) => page.next,
  staleTime: 0,
  // Deliveries are not in the stream of changes.
  refetchInterval: ({ state: { data } }) =>
    data?.pages.some(({ items }) => items.some(({ status }) => status === 'waiting')) === true ? 3_000 : false,
})

export const auditQuery = infiniteQueryOptions({
  queryKey: ['audit'],
  queryFn: ({ signal, pageParam }) => api.listAudit({ cursor: pageParam, limit: 50 }, { signal }),
  initialPageParam: undefined as string | undefined,
  getNextPageParam: (page) => page.next,
  staleTime: 5_000,
})

/** Fetches the next page while the last item is wanted. */
async function fetchAllPages<T>(
  ask: (cursor: string | undefined) => Promise<{ readonly items: readonly T[]; readonly next?: string | undefined }>,
  isWanted: (item: T) => boolean = () => true,
): Promise<T[]> {
  const all: T[] = []
  let cursor: string | undefined
  do {
    // oxlint-disable-next-line no-await-in-loop -- each page says where the next one begins
    const page = await ask(cursor)
    all.push(...page.items)
    cursor = page.items.slice(-1).some(isWanted) ? page.next : undefined
  } while (cursor !== undefined)
  return all
}
