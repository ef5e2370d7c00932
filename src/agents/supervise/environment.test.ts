import { expect, it } from 'vitest'
import { claude } from '../drivers/claude.ts'
import { identifyAccount, buildAgentEnv } from './environment.ts'

const needy = { env: ['TOOL_KEY', 'TOOL_URL_*'] }

it('passes what every program needs and what the driver names, and nothing else', () => {
  const user = {
    PATH: '/bin',
    LC_ALL: 'C',
    https_proxy: 'http://proxy',
    TOOL_KEY: 'k',
    TOOL_URL_BASE: 'u',
    TOOL_OTHER: 'no',
    AWS_SECRET_ACCESS_KEY: 'no',
    GITHUB_TOKEN: 'no',
    UNSET: undefined,
  }

  expect(buildAgentEnv(needy, user, [], {})).toEqual({
    PATH: '/bin',
    LC_ALL: 'C',
    https_proxy: 'http://proxy',
    TOOL_KEY: 'k',
    TOOL_URL_BASE: 'u',
  })
})

it('passes what the user allows, by name or by prefix', () => {
  expect(buildAgentEnv(needy, { DB_URL: 'a', DB_USER: 'b', DBX: 'c', CI: '1' }, ['DB_*', 'CI'], {})).toEqual({
    DB_URL: 'a',
    DB_USER: 'b',
    CI: '1',
  })
})

it('sets the variables of the attempt on top of all others', () => {
  expect(buildAgentEnv(needy, { TOOL_KEY: 'old' }, [], { TOOL_KEY: 'new', MARK: '1' })).toEqual({
    TOOL_KEY: 'new',
    MARK: '1',
  })
})

it('gives Claude Code its key, its base URL and the sandbox flag', () => {
  const user = { ANTHROPIC_API_KEY: 'k', ANTHROPIC_BASE_URL: 'u', IS_SANDBOX: '1', OPENAI_API_KEY: 'no' }

  expect(buildAgentEnv(claude, user, [], {})).toEqual({
    ANTHROPIC_API_KEY: 'k',
    ANTHROPIC_BASE_URL: 'u',
    IS_SANDBOX: '1',
  })
})

it('never passes the markers of the session that started Ralph, even if the user allows them', () => {
  const nested = {
    CLAUDECODE: '1',
    CLAUDE_CODE_ENTRYPOINT: 'cli',
    CLAUDE_CODE_SESSION_ID: 's',
    CLAUDE_CODE_SSE_PORT: '1',
    GEMINI_CLI: '1',
    CODEX_SANDBOX_NETWORK_DISABLED: '1',
    OPENCODE: '1',
  }

  expect(buildAgentEnv(claude, nested, ['CLAUDE*', '*', 'CLAUDECODE'], {})).toEqual({})
})

it('identifies accounts by the variables that their program sees, and by nothing else', () => {
  const driver = { env: ['ANTHROPIC_*', 'CLAUDE_CONFIG_DIR'] }
  const mine = { HOME: '/home/me', ANTHROPIC_API_KEY: 'a', TERM: 'xterm' }

  expect(identifyAccount(driver, { ANTHROPIC_API_KEY: 'a', HOME: '/home/me', TERM: 'dumb', X: '1' })).toBe(
    identifyAccount(driver, mine),
  )
  for (const other of [
    { ...mine, ANTHROPIC_API_KEY: 'b' },
    { ...mine, CLAUDE_CONFIG_DIR: '/work' },
    { ...mine, HOME: '/home/you' },
  ])
    expect(identifyAccount(driver, other)).not.toBe(identifyAccount(driver, mine))
})
