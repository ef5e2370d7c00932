import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { seriousIssues } from '../support/page.ts'
import { createPageAgent, createServedPages } from './served-page.ts'

const { serve, open } = createServedPages()

it('commits the work of a sprint, hands it on as a patch and a text, and previews a restore', async () => {
  const { address, origin, folder, project, api } = await serve()
  const git = (...args: readonly string[]) => execFileSync('git', args, { cwd: project, encoding: 'utf8' }).trim()
  const start = git('rev-parse', 'HEAD')
  const { program, release } = createPageAgent(folder)
  const agent = await api.createAgent({ name: 'counter', workspace: { kind: 'folder', path: project }, program })
  const { sprintId } = await api.startRalphMode({ agentId: agent.id, taskDescription: 'Count to one', doneWhen: [] })
  const { page, complaints, see } = await open(address, { permissions: ['clipboard-read', 'clipboard-write'] })
  await page.goto(`${origin}/sprints/${sprintId}?tab=changes`)
  const commit = page.getByRole('button', { name: 'Commit…' })
  await commit.waitFor()
  expect(await commit.isDisabled()).toBe(true)
  await expect(api.finishSprint({ sprintId, message: 'Too early' })).rejects.toMatchObject({ code: 'AGENT_BUSY' })
  release(1)
  await page.getByRole('heading', { name: 'Which colour should the counter have?' }).waitFor()

  // Changed by the user after the last iteration: it is named, and not in the commit.
  writeFileSync(join(project, 'mine.txt'), 'mine\n')
  await commit.click()
  const dialog = page.getByRole('dialog', { name: 'Commit the work of this sprint' })
  await dialog.getByText('counter.txt').first().waitFor()
  await dialog.getByText('mine.txt').waitFor()
  const issues = await seriousIssues(page)
  expect(await dialog.getByLabel('Commit message').inputValue()).toMatch(/^Count to one\n/)
  // Without an identity nothing is committed.
  await expect(api.finishSprint({ sprintId, message: 'Without an author' })).rejects.toMatchObject({
    code: 'GIT_FAILED',
  })
  expect(git('rev-parse', 'HEAD')).toBe(start)
  git('config', 'user.name', 'Ada')
  git('config', 'user.email', 'ada@example.org')

  await dialog.getByLabel('New branch').fill('counted')
  await dialog.getByRole('button', { name: 'Commit on counted' }).click()
  await dialog.waitFor({ state: 'detached' })
  expect(git('show', '--format=%an %s', '--name-only', 'counted')).toBe('Ada Count to one\n\ncounter.txt')
  expect([git('rev-parse', 'HEAD'), git('branch', '--show-current')]).toEqual([start, 'main'])
  // A repeated request does not commit twice; another one is refused.
  const message = git('log', '-1', '--format=%B', 'counted')
  const { commits } = await api.finishSprint({ sprintId, message, branch: 'counted' })
  expect(commits.map((each) => each.commit)).toEqual([git('rev-parse', 'counted')])
  await expect(api.finishSprint({ sprintId, message: 'Other', branch: 'counted' })).rejects.toMatchObject({
    code: 'USAGE',
  })
  await expect(api.finishSprint({ sprintId, message: 'Other', branch: '-x..y' })).rejects.toMatchObject({
    code: 'USAGE',
  })

  await page.getByRole('button', { name: 'More about these changes' }).click()
  const download = page.waitForEvent('download')
  await page.getByRole('menuitem', { name: 'Download as a patch' }).click()
  const patch = join(folder, 'changes.patch')
  await (await download).saveAs(patch)
  const copy = join(folder, 'copy')
  execFileSync('git', ['clone', '-q', project, copy])
  execFileSync('git', ['apply', patch], { cwd: copy })
  expect(readFileSync(join(copy, 'counter.txt'), 'utf8')).toBe('1\n')
  await page.getByRole('button', { name: 'More about these changes' }).click()
  await page.getByRole('menuitem', { name: 'Copy text for a pull request' }).click()
  await see('Text for a pull request copied')
  const text = await page.evaluate<string>('navigator.clipboard.readText()')
  expect(text).toContain('# Count to one\n')
  expect(text).toContain('- counter.txt (+1 −1)')

  await commit.click()
  await dialog.getByRole('button', { name: 'Commit on main' }).click()
  await dialog.waitFor({ state: 'detached' })
  expect([git('rev-parse', 'HEAD^'), git('status', '--porcelain', '--', 'counter.txt', 'mine.txt')]).toEqual([
    start,
    '?? mine.txt',
  ])
  await commit.click()
  await dialog.getByText(/Nothing to commit on main in .*: it contains all changes/).waitFor()
  await page.getByRole('button', { name: 'Cancel' }).click()

  // The export is the report of the command line, made from what the API knows.
  await page.getByRole('button', { name: 'More', exact: true }).click()
  const saved = page.waitForEvent('download')
  await page.getByRole('menuitem', { name: 'Export as HTML' }).click()
  const report = join(folder, 'report.html')
  await (await saved).saveAs(report)
  const html = readFileSync(report, 'utf8')
  for (const part of ['Made by ralph report', '<h1>Count to one</h1>', 'diff --git a/counter.txt', '&gt; Write'])
    expect(html).toContain(part)

  // A comment on a file becomes a message to the agent.
  await page.getByLabel('Comment on counter.txt').fill('Count from two')
  await page.getByRole('button', { name: 'Comment', exact: true }).click()
  await page.getByRole('tab', { name: 'Transcript' }).click()
  const waiting = page.getByRole('list', { name: 'Messages that wait' })
  await waiting.getByText('Review comment on counter.txt: Count from two').waitFor()

  // The preview compares with the files as they are now, with the edits since.
  writeFileSync(join(project, 'counter.txt'), '99\n')
  await page.goto(`${origin}/sprints/${sprintId}?i=1`)
  await page.getByRole('button', { name: 'Restore to 1' }).click()
  const preview = page.getByRole('region', { name: 'What restoring changes' })
  await preview.getByText('counter.txt').click()
  await preview.getByText('99').waitFor()
  await page.getByRole('button', { name: 'Restore to iteration 1' }).click()
  await see(/Files restored to iteration 1; the previous files are saved in/)
  expect(readFileSync(join(project, 'counter.txt'), 'utf8')).toBe('1\n')
  // The second time there is nothing to restore and nothing to save.
  expect(await api.restoreSprint({ sprintId, iteration: 1 })).toEqual({ success: true })
  expect({ issues, complaints: complaints.lines }).toEqual({ issues: [], complaints: [] })
}, 240_000)
