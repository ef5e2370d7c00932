import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { stripVTControlCharacters } from 'node:util'
import { setTimeout as pause } from 'node:timers/promises'
import { expect, it, onTestFinished } from 'vitest'
import { root } from '../support/paths.ts'
import { waitUntil } from '../support/sprint.ts'
import { claude } from './real-agents.ts'
import { createRealSprint, type RealSprint } from './real-sprint.ts'
import { createUser, startClaude } from './real-user.ts'
import * as scenario from './scenarios.ts'

const runsIt = { calls: [{ run: 'ralph run s --workflows wf --plain' }] }

it('runs /run-sprint as typed in the real Claude Code, after "ralph plugin install" (row 79)', async () => {
  const sprint = await createRealSprint(claude, [runsIt, scenario.claim, { text: 'The sprint is done.' }])
  expect(await sprint.ralph('plugin', 'install', '--yes')).toMatchObject({ exitCode: 0 })

  const { exitCode, stdout } = await startClaude(sprint, '-p', '/run-sprint s')

  expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: 'The sprint is done.\n' })
  expect(sprint.model.requests[0]?.text).toContain('Start it in the background with the Bash tool')
  expect((await sprint.progress()).status).toBe('completed')
})

it('has no short form without the installation', async () => {
  const sprint = await createRealSprint(claude, [{ text: 'unused' }])
  await startClaude(sprint, '-p', '/run-sprint s')

  const requests = sprint.model.requests.map(({ text: request }) => request).join('\n')
  expect(requests).toContain('/run-sprint')
  expect(requests).not.toContain('Start it in the background')
})

it('installs as a plugin from the marketplace of this repository', async () => {
  const sprint = await createRealSprint(claude, [
    runsIt,
    scenario.claim,
    { text: 'The sprint is done.' },
    { text: 'Here they are.' },
  ])

  expect(await startClaude(sprint, 'plugin', 'marketplace', 'add', root)).toMatchObject({ exitCode: 0 })
  expect(await startClaude(sprint, 'plugin', 'install', 'ralph-mode@ralph-mode')).toMatchObject({ exitCode: 0 })
  const { exitCode } = await startClaude(sprint, '-p', '/ralph-mode:run-sprint s')
  await startClaude(sprint, '-p', '/ralph-mode:help')

  expect({ exitCode, status: (await sprint.progress()).status }).toEqual({ exitCode: 0, status: 'completed' })
  expect(sprint.model.requests.at(-1)?.text).toContain('create a sprint for a goal, review it, then run it')
})

/** What each command says to the model, and what of its arguments. */
const cases: readonly (readonly [command: string, args: string, says: string])[] = [
  ['start-sprint', 'Ship it', 'Once the user agrees, run `ralph run'],
  ['init-sprint', 'Ship it', 'Suggest checks for `done-when`'],
  ['sprint-status', 's', 'Summarise in a few lines: state, iteration'],
  ['pause-sprint', 's', 'Say when the sprint pauses'],
  ['resume-sprint', 's', 'If it waits for an answer'],
  ['stop-sprint', 's', 'Say when the sprint stops'],
  ['add-step', 's write docs', 'Please add this step to the plan'],
  ['import-steps', 'prd.json', 'It reads prd.json'],
  ['sprint-watch', 's', 'Report each finished iteration in one line'],
  ['cleanup-sprint', 's', 'Delete nothing unless the user names what to delete'],
  ['ralph-mode', 'Ship it', 'Without a task, explain in a few lines'],
]

it.each(cases)('runs /%s %s with -p', async (command, args, says) => {
  const sprint = await createRealSprint(claude, [{ text: 'Understood.' }])
  await sprint.ralph('plugin', 'install', '--yes')

  expect(await startClaude(sprint, '-p', `/${command} ${args}`)).toMatchObject({ exitCode: 0, stdout: 'Understood.\n' })

  const [request] = sprint.model.requests
  expect(request?.text).toContain(says)
  expect(request?.text).toContain(`Given: ${args}`)
})

it('runs every command as typed in a terminal', async () => {
  const answers = cases.map(([command]) => ({ text: `Answered ${command}.` }))
  const sprint = await createRealSprint(claude, [runsIt, scenario.claim, { text: 'The sprint is done.' }, ...answers])
  await sprint.ralph('plugin', 'install', '--yes')
  await acceptDialogs(sprint)
  const terminal = await typeIntoClaude(sprint)

  await terminal.sees('for agents')
  await terminal.enter('/run-sprint s')
  await terminal.sees('The sprint is done.')
  expect((await sprint.progress()).status).toBe('completed')
  for (const [command, args] of cases) {
    await terminal.enter(`/${command} ${args}`)
    await terminal.sees(`Answered ${command}.`)
  }

  const requests = sprint.model.requests.map(({ text: request }) => request)
  const says = ['Start it in the background with the Bash tool', ...cases.map(([, , text]) => text)]
  expect(says.filter((text) => !requests.some((request) => request.includes(text)))).toEqual([])
  const argumentLines = cases.map(([, args]) => `Given: ${args}`)
  expect(argumentLines.filter((text) => !requests.some((request) => request.includes(text)))).toEqual([])
})

/** What a user has answered once: theme, key, trust in the folder. */
async function acceptDialogs(sprint: RealSprint) {
  const trusted = {
    hasTrustDialogAccepted: true,
    hasCompletedProjectOnboarding: true,
    allowedTools: ['Bash(ralph run:*)'],
  }
  const known = {
    hasCompletedOnboarding: true,
    theme: 'dark',
    bypassPermissionsModeAccepted: true,
    customApiKeyResponses: { approved: ['test-key'], rejected: [] },
    projects: { [sprint.at()]: trusted },
  }
  await sprint.write('../home/.claude.json', JSON.stringify(known))
}

/** The real program in a terminal (a pty, by `script`). */
async function typeIntoClaude(sprint: RealSprint) {
  const { program, options } = await createUser(sprint)
  const command = `stty cols 120 rows 40; exec '${program}' --dangerously-skip-permissions`
  const env = { ...options.env, TERM: 'xterm-256color', SHELL: '/bin/sh', LANG: 'C.UTF-8' }
  const child = spawn('script', ['--quiet', '--flush', '--return', '--command', command, '/dev/null'], {
    cwd: options.cwd,
    env,
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  let shown = ''
  child.stdout.setEncoding('utf8').on('data', (more: string) => (shown += stripVTControlCharacters(more)))
  const ended = once(child, 'close')
  onTestFinished(async () => {
    child.kill('SIGKILL')
    await ended
  })
  const squeeze = (words: string) => words.replaceAll(/\s+/g, '')
  return {
    sees: (words: string) => waitUntil(`"${words}" on the terminal`, () => squeeze(shown).includes(squeeze(words))),
    /** Enter is a key of its own: the program takes a line that comes at once for pasted text. */
    async enter(line: string) {
      const before = shown.length
      child.stdin.write(line)
      await waitUntil(`"${line}" to be echoed`, () => squeeze(shown.slice(before)).includes(squeeze(line)))
      await pause(100)
      child.stdin.write('\r')
    },
  }
}
