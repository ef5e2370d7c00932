import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { stateFolder } from '../../platform/files/state-folder.ts'
import { createTestIo } from '../../../test/support/test-io.ts'
import { after, buildProgress, noon, type Play, reports, started } from '../../../test/support/builders.ts'
import { createTestFolder } from '../../../test/support/folder.ts'
import { openSprintStore } from '../../storage/sprint/sprint-store.ts'
import { openWorkspace } from '../../storage/git/workspace.ts'
import { applyFactToProgress } from '../../host/apply-fact.ts'
import { report } from './report.ts'

const line = JSON.stringify({
  type: 'assistant',
  session_id: 's',
  message: { id: 'm', role: 'assistant', content: [{ type: 'text', text: 'I wrote <b>it</b>' }] },
})

/** Creates a project whose sprint has run one iteration that changed a file. */
async function createFinishedSprint() {
  const project = createTestFolder()
  const dir = join(project, '.claude', 'sprints', 's')
  mkdirSync(dir, { recursive: true })
  execFileSync('git', ['init', '--quiet'], { cwd: project })
  let progress = buildProgress({ agent: ['claude'], checkpoint: true })
  const opened = await openSprintStore({ sprintDir: dir, fold: applyFactToProgress, now: () => noon }, progress)
  const workspace = await openWorkspace({ project, sprintDir: dir, sprintId: progress.sprintId })
  await workspace.start()
  writeFileSync(join(project, 'new.txt'), 'a < b\n')
  const commit = await workspace.checkpoint(1, 'one')
  const made: Play = { type: 'checkpoint-made', at: noon, iteration: 1, commit }
  for (const play of [started(), reports({ status: 'goal-complete' }), made]) {
    const fact = typeof play === 'function' ? play(progress) : play
    progress = after(progress, fact).progress
    await opened?.store.save(progress, fact)
  }
  mkdirSync(join(stateFolder(dir), 'attempts', '1-1'), { recursive: true })
  writeFileSync(join(stateFolder(dir), 'attempts', '1-1', 'transcript.jsonl'), `${line}\n`)
  await opened?.store.close()
  return { project, dir, status: progress.status }
}

describe('ralph report', () => {
  it('writes a page with the diff and the transcript of each iteration to the sprint folder', async () => {
    const { project, dir, status } = await createFinishedSprint()
    const { io, printed } = createTestIo({ cwd: project })

    expect(await report.run([dir], io)).toBe(0)

    expect({ printed, status }).toEqual({ printed: ['.claude/sprints/s/report.html'], status: 'completed' })
    const page = readFileSync(join(dir, 'report.html'), 'utf8')
    expect(page).toContain('<span class="good">+a &lt; b</span>')
    expect(page).toContain('I wrote &lt;b&gt;it&lt;/b&gt;')
  })

  it('prints Markdown, or writes it to the given file', async () => {
    const { project, dir } = await createFinishedSprint()
    const { io, printed, text } = createTestIo({ cwd: project })

    await report.run([dir, '--markdown'], io)
    expect(text()).toMatch(/^## ✅ .*: completed\n/)
    printed.length = 0
    await report.run([dir, '--markdown', '--output', 'pr.md'], io)

    expect(printed).toEqual(['pr.md'])
    expect(readFileSync(join(project, 'pr.md'), 'utf8')).toMatch(/^## ✅ /)
  })

  it('reports the file or the text as JSON', async () => {
    const { project, dir } = await createFinishedSprint()
    const { io, printed } = createTestIo({ cwd: project })

    await report.run([dir, '--json'], io)
    await report.run([dir, '--markdown', '--json'], io)

    expect(printed.map((text): unknown => JSON.parse(text))).toEqual([
      { format: 'html', file: '.claude/sprints/s/report.html' },
      { format: 'markdown', file: null, text: expect.stringContaining('## ✅') },
    ])
  })

  it.each([
    ['a folder as output', '.', /--output is a folder/],
    ['an output in a folder that is not there', 'nowhere/r.html', /cannot write/],
    ['an empty output', '', /--output is empty/],
  ])('refuses %s', async (_, output, message) => {
    const { project, dir } = await createFinishedSprint()

    await expect(report.run([dir, '--output', output], createTestIo({ cwd: project }).io)).rejects.toThrow(message)
    expect(existsSync(join(dir, 'report.html'))).toBe(false)
  })

  it('refuses a sprint that has not been compiled', async () => {
    await expect(report.run([createTestFolder()], createTestIo().io)).rejects.toMatchObject({
      code: 'PROGRESS_NOT_FOUND',
    })
  })
})
