import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, it } from 'vitest'
import { seriousIssues } from '../support/page.ts'
import { createServedPages } from './served-page.ts'

const { serve, open } = createServedPages()

const head = `const test = require('node:test'); const assert = require('node:assert'); const lib = require('../lib.js')`
const report = JSON.stringify({ status: 'goal-complete', summary: 's', goalCompleteSummary: 'It adds' })

/** A project whose agent weakens its only test and claims the goal. */
function createWeakenedProject(project: string): void {
  const files = {
    'lib.js': 'exports.add = (a, b) => a + b\n',
    'test/add.test.js': `${head}\ntest('adds', () => assert.equal(lib.add(1, 2), 3))\n`,
    '.gitignore': 'agent.sh\n',
    'agent.sh': `sed -i 's/2), 3)/2), -1)/' test/add.test.js
echo 'exports.add = (a, b) => a - b' > lib.js
printf '%s\\n' '\`\`\`json' '${report}' '\`\`\`'
`,
  }
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(project, path)), { recursive: true })
    writeFileSync(join(project, path), text)
  }
  const git = (...args: readonly string[]) =>
    execFileSync('git', ['-c', 'user.name=U', '-c', 'user.email=u@x', ...args], { cwd: project })
  git('add', '.')
  git('commit', '--quiet', '--message=tests')
}

it('asks about a contested claim with the diff of the test, and a person decides beside the evidence', async () => {
  const { origin, folder, project, api } = await serve()
  createWeakenedProject(project)
  const workspace = { kind: 'folder', path: project } as const
  const { id: agentId } = await api.createAgent({ name: 'adder', workspace, program: 'command:/bin/sh agent.sh' })
  const sprintYaml = 'workflow: ralph\ngoal: add\ndone-when: [{run: node --test}]\n'
  const { id: sprintId } = await api.startSprint({ agentId, sprintYaml })
  const { page, complaints } = await open((await api.makeTicket({})).address)
  await page.goto(`${origin}/sprints/${sprintId}`)
  const card = page.getByRole('region', { name: 'Open question' })
  await card.getByText('The claim holds only with what the agent changed in the tests').waitFor({ timeout: 120_000 })
  await card.getByText('lib.add(1, 2), -1)').waitFor()

  const proof = page.getByRole('region', { name: 'Proof' })
  const steps = proof.getByRole('list', { name: 'How the claim was measured' })
  await steps.getByText('Tests of the start, on the new code').waitFor()
  await proof.getByText('test/add.test.js > adds').first().waitFor()
  const issues = await seriousIssues(page)
  const download = page.waitForEvent('download')
  await proof.getByRole('button', { name: 'Download the evidence' }).click()
  const evidence = join(folder, 'evidence.json')
  await (await download).saveAs(evidence)
  expect(JSON.parse(readFileSync(evidence, 'utf8'))).toMatchObject({ record: { proof: { verdict: 'contested' } } })

  await proof.getByRole('button', { name: 'accept the change' }).click()
  await page.getByText('Done', { exact: true }).first().waitFor()
  await card.waitFor({ state: 'detached' })
  // The head names it too: it is not a goal like one that tests proved.
  await page.getByText('unproven', { exact: true }).first().waitFor()
  await proof.getByText(/accepted by a person/).waitFor()
  expect({ issues, complaints: complaints.lines }).toEqual({ issues: [], complaints: [] })
}, 300_000)
