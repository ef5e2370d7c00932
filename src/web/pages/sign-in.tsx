import { useQuery, useQueryClient } from '@tanstack/react-query'
import { getRouteApi, useNavigate } from '@tanstack/react-router'
import { useEffect, useRef, useState } from 'react'
import type { Me } from '../../contract/fleet/user.ts'
import { api, type ErrorText, describeError } from '../data/api.ts'
import { signInWithPasskey } from '../data/passkey.ts'
import { keys, waysToSignInQuery } from '../data/queries.ts'
import { useTitle } from '../shell/title.ts'
import { TextInput } from '../ui/field.tsx'
import { Button, buttonLook } from '../ui/button.tsx'
import { classes } from '../ui/classes.ts'

const route = getRouteApi('/sign-in')

const refusals: Readonly<Record<string, string>> = {
  FORBIDDEN: 'Your account may not use this Ralph',
  TICKET_INVALID: 'The sign-in took too long',
  UNAUTHENTICATED: 'Your organisation did not sign you in',
}

/** The ticket is in the URL fragment, which no server and no log ever sees, and works once. */
export function SignInPage() {
  useTitle('Sign in')
  const [problem, setProblem] = useState<ErrorText>()
  const [ticket, setTicket] = useState('')
  const { refused } = route.useSearch()
  const ways = useQuery(waysToSignInQuery)
  const enter = useSignIn(setProblem)
  const signIn = (text: string): void => enter(() => api.signIn({ ticket: text }))
  useTicketInAddress(signIn)
  return (
    <main
      id="content"
      tabIndex={-1}
      className="mx-auto flex outline-none min-h-dvh max-w-sm flex-col justify-center gap-4 px-5 pb-24"
    >
      <img src="/icon.svg" alt="" className="size-9" />
      <h1 className="text-xl font-semibold tracking-tight">Sign in to Ralph</h1>
      {refused !== undefined && !problem && <RefusedNotice code={refused} />}
      {problem && (
        <p role="alert" className="rounded-md bg-bad-bg px-3 py-2 text-bad">
          {problem.title}
          {problem.detail !== undefined && <span className="block text-dim">{problem.detail}</span>}
        </p>
      )}
      {ways.data?.organisation === true && <OrganisationLink />}
      {ways.data?.passkeys === true && 'PublicKeyCredential' in window && (
        <Button className="h-9 justify-center" onClick={() => enter(signInWithPasskey)}>
          Sign in with a passkey
        </Button>
      )}
      <p className="text-dim">
        Open the address that <code className="font-mono text-sm">ralph serve</code> prints, or paste its ticket here.
      </p>
      <form
        className="flex items-end gap-2"
        onSubmit={(event) => {
          event.preventDefault()
          signIn(parseTicket(ticket))
        }}
      >
        <TextInput
          label="Ticket"
          value={ticket}
          autoComplete="off"
          className="flex-1"
          onChange={(event) => setTicket(event.target.value)}
        />
        <Button submit kind={ways.data?.organisation === true ? 'plain' : 'primary'} disabled={ticket.trim() === ''}>
          Sign in
        </Button>
      </form>
    </main>
  )
}

const OrganisationLink = () => (
  <>
    <a href="/auth/start" className={classes(buttonLook('primary'), 'h-9 justify-center')}>
      Sign in with your organisation
    </a>
    <p className="flex items-center gap-3 text-sm text-faint before:h-px before:flex-1 before:bg-line after:h-px after:flex-1 after:bg-line">
      or in another way
    </p>
  </>
)

/** After a sign-in at the organisation that ended without an account here. */
const RefusedNotice = ({ code }: { code: string }) => (
  <p role="alert" className="rounded-md bg-bad-bg px-3 py-2 text-bad">
    {refusals[code] ?? 'Your organisation did not sign you in'}
    <span className="block text-dim">
      {code === 'FORBIDDEN'
        ? 'Ask an admin to add your address to RALPH_OIDC_ALLOW, or sign in with another account.'
        : 'Start again.'}
    </span>
  </p>
)

/** Also when the same tab opens an address with a new ticket. */
function useTicketInAddress(signIn: (ticket: string) => void): void {
  const latest = useRef(signIn)
  useEffect(() => {
    latest.current = signIn
  })
  useEffect(() => {
    const take = (): void => {
      const ticket = decodeURIComponent(location.hash.slice(1))
      if (ticket === '') return
      history.replaceState(history.state, '', '/sign-in')
      latest.current(ticket)
    }
    take()
    window.addEventListener('hashchange', take)
    return () => window.removeEventListener('hashchange', take)
  }, [])
}

/** Users paste the whole address. */
const parseTicket = (text: string): string => text.trim().split('#').at(-1) ?? ''

/** Signs in in one of the ways, then opens the first page. */
function useSignIn(onProblem: (problem: ErrorText) => void): (way: () => Promise<Me>) => void {
  const cache = useQueryClient()
  const navigate = useNavigate()
  const signIn = async (way: () => Promise<Me>): Promise<void> => {
    try {
      const me = await way()
      cache.clear()
      cache.setQueryData(keys.me, me)
      await navigate({ to: '/', replace: true, resetScroll: false })
    } catch (error) {
      onProblem(describeError(error))
    }
  }
  return (way) => void signIn(way)
}
