import { expect, it } from 'vitest'
import { parsePatch } from './patch.ts'

it('parses a diff: changed, new, deleted, binary and renamed files', () => {
  const patch = [
    'diff --git a/src/a.ts b/src/a.ts',
    'index 1..2 100644',
    '--- a/src/a.ts',
    '+++ b/src/a.ts',
    '@@ -1,2 +1,3 @@',
    ' same',
    '-old',
    '+new',
    '+more',
    'diff --git a/gone.txt b/gone.txt',
    'deleted file mode 100644',
    '--- a/gone.txt',
    '+++ /dev/null',
    '@@ -1 +0,0 @@',
    '-bye',
    'diff --git a/logo.png b/logo.png',
    'Binary files a/logo.png and b/logo.png differ',
    'diff --git a/old name.md b/new name.md',
    'similarity index 100%',
    'rename from old name.md',
    'rename to new name.md',
  ].join('\n')

  expect(parsePatch(patch)).toEqual([
    {
      path: 'src/a.ts',
      added: 2,
      removed: 1,
      patch: '@@ -1,2 +1,3 @@\n same\n-old\n+new\n+more\n',
      head: 'diff --git a/src/a.ts b/src/a.ts\nindex 1..2 100644\n--- a/src/a.ts\n+++ b/src/a.ts\n',
    },
    {
      path: 'gone.txt',
      added: 0,
      removed: 1,
      patch: '@@ -1 +0,0 @@\n-bye\n',
      head: 'diff --git a/gone.txt b/gone.txt\ndeleted file mode 100644\n--- a/gone.txt\n+++ /dev/null\n',
    },
    { path: 'logo.png', added: 0, removed: 0 },
    {
      path: 'new name.md',
      added: 0,
      removed: 0,
      head: 'diff --git a/old name.md b/new name.md\nsimilarity index 100%\nrename from old name.md\nrename to new name.md\n',
    },
  ])
})

it('keeps an empty line at the end of a patch, which git may print without its space', () => {
  const patch = 'diff --git a/a b/a\n--- a/a\n+++ b/a\n@@ -1,2 +1,2 @@\n-old\n+new\n'
  expect(parsePatch(patch).map((file) => `${file.head}${file.patch}`)).toEqual([`${patch}\n`])
})

it('returns no files for an empty diff', () => {
  expect(parsePatch('')).toEqual([])
})
