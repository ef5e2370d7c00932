import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Outlet, useLocation, useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { lazy, Suspense, useEffect, useMemo, useState } from 'react'
import { Uuid } from '../../contract/fleet/page.ts'
import { isSignedOut } from '../data/api.ts'
import { useLiveUpdates } from '../data/live.ts'
import { meQuery, questionsQuery } from '../data/queries.ts'
import { loadChunk } from './load-chunk.ts'
import { Toaster } from '../ui/toast.tsx'
import { Header } from './header.tsx'
import { LiveBanner } from './live-banner.tsx'
import { VersionBanner } from './version-banner.tsx'
import { useNotifications } from '../data/notifications.ts'
import { useKeys } from './shortcuts.ts'
import { useOpenStart } from './start-target.ts'

const LazyPalette = lazy(async () => ({ default: (await loadChunk(() => import('./palette.tsx'))).CommandPalette }))
const LazyStartDialog = lazy(async () => ({
  default: (await loadChunk(() => import('../features/start/start-dialog.tsx'))).StartDialog,
}))
const LazyShortcutsDialog = lazy(async () => ({
  default: (await loadChunk(() => import('./shortcuts-dialog.tsx'))).ShortcutsDialog,
}))

/** The frame around every page. */
export function AppShell() {
  const { pathname } = useLocation()
  const signingIn = pathname === '/sign-in'
  return (
    <>
      <a href="#content" className="sr-only focus:not-sr-only focus:fixed focus:z-50 focus:bg-panel focus:p-2">
        Skip to content
      </a>
      {signingIn ? <Outlet /> : <SignedInShell />}
      <Toaster />
    </>
  )
}

function SignedInShell() {
  const me = useQuery(meQuery)
  useQuery(questionsQuery)
  useSignInWhenNeeded(me.error)
  useLiveUpdates(useSprintInAddress())
  useNotifications()
  const [open, setOpen] = useState<'palette' | 'help' | undefined>()
  useGlobalKeys(setOpen)
  return (
    <>
      <Header onSearch={() => setOpen('palette')} />
      <LiveBanner />
      <VersionBanner />
      <main id="content" tabIndex={-1} className="mx-auto max-w-(--page-width) px-5 py-4.5 outline-none max-sm:px-3">
        <Outlet />
      </main>
      <Suspense>
        {open === 'palette' && <LazyPalette onClose={() => setOpen(undefined)} onHelp={() => setOpen('help')} />}
        {open === 'help' && <LazyShortcutsDialog onClose={() => setOpen(undefined)} />}
        <StartDialogHost />
      </Suspense>
    </>
  )
}

/** Once opened it stays mounted, so that the closing animation is visible. */
function StartDialogHost() {
  const { start } = useSearch({ strict: false })
  const navigate = useNavigate()
  const [used, setUsed] = useState(false)
  if (start !== undefined && !used) setUsed(true)
  if (!used) return null
  const close = (): void =>
    void navigate({ to: '.', search: (all) => ({ ...all, start: undefined }), replace: true, resetScroll: false })
  return <LazyStartDialog agentId={start} onClose={close} />
}

function useGlobalKeys(open: (what: 'palette' | 'help') => void): void {
  const navigate = useNavigate()
  const openStart = useOpenStart()
  const handlers = useMemo(
    () => ({
      'mod+k': () => open('palette'),
      '?': () => open('help'),
      'g f': () => void navigate({ to: '/' }),
      'g n': () => void navigate({ to: '/needs-you' }),
      'g m': () => void navigate({ to: '/machines' }),
      'g s': () => void navigate({ to: '/settings' }),
      n: openStart,
      '/': () => document.querySelector<HTMLInputElement>('input[type=search]')?.focus(),
    }),
    [navigate, open, openStart],
  )
  useKeys(handlers)
}

/** Also when the backend revokes the access of a user with an open page. */
function useSignInWhenNeeded(error: unknown): void {
  const navigate = useNavigate()
  const cache = useQueryClient()
  const signedOut = isSignedOut(error)
  useEffect(() => {
    if (signedOut) void navigate({ to: '/sign-in', replace: true, resetScroll: false })
  }, [signedOut, navigate])
  useEffect(
    () =>
      cache.getQueryCache().subscribe(({ query }) => {
        if (isSignedOut(query.state.error)) void navigate({ to: '/sign-in', replace: true, resetScroll: false })
      }),
    [cache, navigate],
  )
}

function useSprintInAddress(): string | undefined {
  const { sprintId } = useParams({ strict: false })
  return Uuid.safeParse(sprintId).data
}
