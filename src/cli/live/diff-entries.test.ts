import { expect, it } from 'vitest'
import { createPaint } from '../io/paint.ts'
import { diffEntries, splitPatch } from './diff-entries.ts'

const patch = [
  'diff --git a/src/a.ts b/src/a.ts',
  'index 1..2 100644',
  '--- a/src/a.ts',
  '+++ b/src/a.ts',
  '@@ -1 +1,2 @@',
  '-one',
  '+two',
  '+--- three',
  'diff --git a/gone.ts b/gone.ts',
  'deleted file mode 100644',
  '--- a/gone.ts',
  '+++ /dev/null',
  '@@ -1 +0,0 @@',
  '-gone',
  'diff --git a/logo.png b/logo.png',
  'Binary files a/logo.png and b/logo.png differ',
  '',
].join('\n')

it('splits a patch at its files and counts their lines', () => {
  expect(splitPatch(patch).map(({ path, added, removed }) => ({ path, added, removed }))).toEqual([
    { path: 'src/a.ts', added: 2, removed: 1 },
    { path: 'gone.ts', added: 0, removed: 1 },
    { path: 'logo.png', added: 0, removed: 0 },
  ])
})

it('lists all files first, then each one with its coloured changes', async () => {
  const entries = diffEntries(patch, createPaint(true))

  expect(entries.map(({ text }) => text)).toEqual([
    '3 files  +2 −2',
    'src/a.ts  +2 −1',
    'gone.ts  +0 −1',
    'logo.png  +0 −0',
  ])
  expect(entries[1]?.preview).toContain('\u001b[32m+two\u001b[0m')
  expect(await entries[2]?.open()).toMatchObject({ kind: 'text', title: 'gone.ts  +0 −1' })
})
