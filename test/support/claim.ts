import { join } from 'node:path'
import type { Check } from '../../src/contract/check.ts'
import { createClaimProver, type ProverOptions } from '../../src/proof/claim-prover.ts'
import { createTestFolder } from './folder.ts'
import { root } from './paths.ts'
import { createProject, type Files } from './room.ts'

export const createCheck = (run: string, more: Partial<Check> = {}): Check => ({
  run,
  timeout: 60_000,
  eachIteration: false,
  protect: false,
  ...more,
})

type Case = { readonly check?: Check; readonly options?: Partial<ProverOptions> }

/** Records the baseline, lets the agent act, and proves its claim. Starting npm takes as long as these tests themselves. */
export async function claimAfter(files: Files, act: (project: string) => void, { check, options = {} }: Case = {}) {
  const project = createProject(files)
  const home = createTestFolder()
  const prover = createClaimProver({
    state: join(home, 'state'),
    project,
    exclude: [],
    hidden: [],
    heldOut: join(home, 'checks'),
    assets: join(root, 'assets/reporters'),
    env: process.env,
    pass: [],
    frozen: [],
    mayChange: [],
    room: undefined,
    seal: undefined,
    isSealed: true,
    redact: (text) => text,
    ...options,
  })
  const never = new AbortController().signal
  const request = { checks: [check ?? createCheck('node --test')], onStart: () => {}, onEnd: () => {} }
  const recorded = await prover.recordBaseline(request, never)
  act(project)
  const proved = await prover.prove({ ...request, baseline: recorded.baseline }, never)
  return { recorded, ...proved }
}

export const testText = (name: string, body: string): string =>
  `const test = require('node:test'); const assert = require('node:assert'); const lib = require('../lib.js')\ntest('${name}', () => { ${body} })\n`

export const green: Files = {
  'package.json': '{"scripts":{"test":"node --test"}}',
  'lib.js': 'exports.add = (a, b) => a + b\n',
  'test/add.test.js': testText('adds', 'assert.equal(lib.add(1, 2), 3)'),
}
export const red: Files = { ...green, 'lib.js': 'exports.add = (a, b) => a - b\n' }
