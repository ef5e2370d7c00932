import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { root } from './support/paths.ts'

/** Every finding of the security review, of the research on cells (N) and of the corpus (P), with the test that fails if it comes back. */
const findings: readonly (readonly [number: string, finding: string, file: string, test: string])[] = [
  [
    'C3',
    'a git filter of the agent runs outside',
    'src/storage/git/workspace.test.ts',
    'runs no filter that the agent configured',
  ],
  ['H1', 'a member runs a command on any machine', 'test/fleet/machine-grants.test.ts', 'runs no command of its own'],
  [
    'H1',
    'a member reads the folder of another user',
    'test/fleet/machine-grants.test.ts',
    "reads no other user's folder",
  ],
  [
    'H1',
    'a workspace in the folder of Ralph',
    'test/fleet/machine-grants.test.ts',
    "gets no workspace in Ralph's own folder",
  ],
  [
    'H2',
    'a write token becomes an admin session',
    'test/fleet/rights.test.ts',
    'a write token does not become an admin session',
  ],
  ['H3', 'a workflow is planted', 'conformance/escapes/cases/state.mjs', "state('workflow'"],
  ['H3', 'another sprint is written', 'conformance/escapes/cases/state.mjs', "sprint('other-sprint-file'"],
  [
    'H4',
    'state of the agent is believed',
    'test/e2e/state.test.ts',
    'believes nothing that the agent writes into the sprint folder',
  ],
  [
    'H5',
    'a process without the mark survives',
    'src/platform/processes/orphans.test.ts',
    'ends with the program that started it',
  ],
  ['H5', 'the same in a cell', 'conformance/escapes/cases/system.mjs', "left('clean-environment'"],
  ['H6', 'what defines a check is changed', 'test/e2e/proof.test.ts', 'refuses a claim in the clean room'],
  ['H7', 'a tampered success looks like one', 'test/e2e/checks.test.ts', 'is reported and refused'],
  [
    'H8',
    'the action uploads transcripts',
    'test/action.test.ts',
    'keeps only the redacted report, unless transcripts are asked for',
  ],
  [
    'M1',
    'wrong tickets block all sign-ins',
    'test/fleet/rights.test.ts',
    'stay usable while another caller tries wrong tickets',
  ],
  [
    'M2',
    'the folder of Ralph as a workspace',
    'test/fleet/machine-grants.test.ts',
    "gets no workspace in Ralph's own folder",
  ],
  ['M3', 'secrets of the home folder are read', 'conformance/escapes/cases/files.mjs', "read('ssh-key'"],
  ['M3', 'services of the machine are reached', 'conformance/escapes/cases/network.mjs', "net('host-loopback'"],
  ['M4', 'settings of the user are written', 'conformance/escapes/cases/files.mjs', "write('agent-settings'"],
  [
    'M4',
    'a server for the sessions of the user is added',
    'conformance/escapes/cases/planted.mjs',
    "planted('agent-server'",
  ],
  ['M5', 'a check writes its own exit code', 'conformance/escapes/cases/state.mjs', "state('exit-code'"],
  ['M6', 'encoded secrets pass', 'src/contract/secrets/redact.test.ts', 'are replaced %s'],
  ['L1', 'NUL in a name', 'test/fleet/rights.test.ts', 'a name with NUL or control characters'],
  [
    'L2',
    'a cookie of a sibling domain',
    'src/backend/http/calls/credentials.test.ts',
    'reads with TLS only the cookie that no sibling domain can set',
  ],
  ['L3', 'addresses of private networks', 'src/platform/net/webhook.test.ts', '64:ff9b:1::'],
  [
    'L4',
    'control characters in a pipe',
    'src/cli/io/io.test.ts',
    'escapes in JSON for programs what would steer a terminal',
  ],
  ['L5', 'machines port on every address', 'src/cli/serve/settings.test.ts', "machines({ 'machines-port': '7258' })"],
  [
    'L6',
    'keys in the database',
    'test/fleet/secrets-at-rest.test.ts',
    'encrypts the authority key and webhook secrets',
  ],
  ['L7', 'the first sign-in becomes admin', 'test/fleet/sign-in.test.ts', 'makes the named first admin an admin'],
  [
    'L9',
    'packages without a checksum',
    'test/audit.test.ts',
    'has no checksum only for packages that neither users nor this platform install',
  ],
  [
    'L10',
    'notes of an agent without notes',
    'test/fleet/api.test.ts',
    'answers 404 for the notes of an agent that has none',
  ],
  ['N1', 'settings of the kernel, agents', 'conformance/escapes/cases/system.mjs', "proc('core-pattern'"],
  ['N1', 'settings of the kernel, checks', 'src/proof/room/room.test.ts', 'lets it write no setting of the kernel'],
  ['N2', 'the transcript is cut', 'conformance/escapes/cases/state.mjs', "state('transcript-descriptor'"],
  ['N3', 'commondir', 'conformance/escapes/cases/state.mjs', "git('commondir'"],
  ['N4', 'set-user-ID files', 'conformance/escapes/cases/system.mjs', "ns('set-user-id-shell'"],
  ['N5', 'inherited descriptors', 'conformance/escapes/cases/system.mjs', "'inherited-descriptor'"],
  ['N6', 'a socket in the work tree', 'conformance/escapes/cases/network.mjs', "net('work-tree-socket'"],
  ['N7', 'a folder above a wall is renamed', 'conformance/escapes/cases/state.mjs', "git('objects-move'"],
  [
    'N8',
    'an agent waits behind a dead proxy',
    'src/agents/cells/network/forwarder.test.ts',
    'ends the program if the proxy is gone',
  ],
  ['P1', 'a program of the project on PATH', 'conformance/escapes/cases/mechanisms.mjs', "'cat', 'mkdir', 'env'"],
  [
    'P1',
    'a git of the project on PATH',
    'src/platform/safe-path.test.ts',
    'keeps a git that an agent put on PATH from being run',
  ],
]

it.each(findings)('%s (%s) has a test in %s', (_number, _finding, file, text) => {
  expect(readFileSync(join(root, file), 'utf8')).toContain(text)
})
