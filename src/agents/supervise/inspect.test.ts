import { describe, expect, it } from 'vitest'
import { claude } from '../drivers/claude.ts'
import { codex } from '../drivers/codex.ts'
import { gemini } from '../drivers/gemini.ts'
import { inspectAgent, type InspectionPorts, readAgentVersion, versionWarning } from './inspect.ts'
import { getDriver } from '../drivers/registry.ts'

const createInspector = (machine: Partial<InspectionPorts> = {}): InspectionPorts => ({
  find: (program) => `/bin/${program}`,
  run: async (_, args) =>
    args[0] === '--version' ? { code: 0, stdout: '2.1.325 (Claude Code)\n' } : { code: 1, stdout: '' },
  isHomeFile: () => false,
  env: {},
  ...machine,
})
const version = (stdout: string) => createInspector({ run: async () => ({ code: 0, stdout }) })

describe('the inspection of an agent program', () => {
  it('finds nothing if it is not installed', async () => {
    expect(await inspectAgent(claude, createInspector({ find: () => undefined }))).toEqual({
      name: 'claude',
      program: 'claude',
      way: 'headless',
      login: 'unknown',
    })
  })

  it('finds its path, its version, and whether the user is logged in', async () => {
    expect(await inspectAgent(claude, createInspector())).toEqual({
      name: 'claude',
      program: 'claude',
      way: 'headless',
      path: '/bin/claude',
      version: '2.1.325',
      tested: true,
      login: 'no',
    })
  })

  it('detects a login by variable, by file or by running the program', async () => {
    expect((await inspectAgent(claude, createInspector({ env: { ANTHROPIC_API_KEY: 'k' } }))).login).toBe('yes')
    expect(
      (await inspectAgent(gemini, createInspector({ isHomeFile: (path) => path === '.gemini/oauth_creds.json' })))
        .login,
    ).toBe('yes')
    expect((await inspectAgent(gemini, createInspector())).login).toBe('unknown')
    expect((await inspectAgent(codex, createInspector({ run: async () => ({ code: 0, stdout: '' }) }))).login).toBe(
      'yes',
    )
    expect((await inspectAgent(codex, createInspector({ run: async () => ({ code: null, stdout: '' }) }))).login).toBe(
      'unknown',
    )
  })

  it('warns about a version that was not tested', async () => {
    for (const [printed, tested] of [
      ['2.1.0', true],
      ['2.10.0', false],
      ['2.0.99', false],
      ['3.0.0', false],
    ] as const) {
      const inspection = await inspectAgent(claude, version(printed))
      expect([printed, inspection.tested]).toEqual([printed, tested])
      expect(versionWarning(claude, printed) === undefined).toBe(tested)
    }
    expect((await inspectAgent(claude, version('no digits'))).version).toBeUndefined()
  })

  it('can read the version alone, with one call', async () => {
    const calls: string[][] = []
    const run: InspectionPorts['run'] = async (_, args) => {
      calls.push([...args])
      return { code: 0, stdout: 'codex-cli 0.166.0' }
    }

    expect(await readAgentVersion(codex, createInspector({ run }))).toBe('0.166.0')
    expect(await readAgentVersion(codex, createInspector({ find: () => undefined }))).toBeUndefined()
    expect(calls).toEqual([['--version']])
  })

  it('also works for agents behind the protocol', async () => {
    expect(await inspectAgent(getDriver('acp:gemini'), createInspector())).toMatchObject({
      way: 'acp',
      program: 'gemini',
    })
  })
})

describe('a warning before the first attempt', () => {
  const situation = { isRoot: true, sandboxed: false, env: {} }

  it('appears for Claude Code as root, which would refuse to start', () => {
    expect(claude.warn?.(situation)).toContain('IS_SANDBOX=1')
    expect(claude.warn?.({ ...situation, sandboxed: true })).toBeUndefined()
    expect(claude.warn?.({ ...situation, env: { IS_SANDBOX: '1' } })).toBeUndefined()
    expect(claude.warn?.({ ...situation, env: { IS_SANDBOX: 'yes' } })).toBeUndefined()
    expect(claude.warn?.({ ...situation, env: { IS_SANDBOX: '0' } })).toContain('IS_SANDBOX=1')
    expect(claude.warn?.({ ...situation, isRoot: false })).toBeUndefined()
  })

  it('does not appear within a sandbox, where the flag is set', () => {
    const spec = { cwd: '/project', folder: '/attempt', sprintDir: '/sprint' }

    expect(claude.command({ ...spec, sandboxed: true }).env).toMatchObject({ IS_SANDBOX: '1' })
    expect(claude.command(spec).env).not.toHaveProperty('IS_SANDBOX')
  })
})
