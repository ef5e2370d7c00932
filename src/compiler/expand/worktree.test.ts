import { describe, expect, it } from 'vitest'
import { compileProgress, compileTest, listErrors } from '../../../test/support/compile.ts'

const worktree = (sprint: string, workflow = '') =>
  compileProgress(`workflow: w\n${sprint}`, { w: `name: W\nphases: [{id: a, prompt: A}]\n${workflow}` }).worktree
const shared = 'worktree: {enabled: true, branch-prefix: "wip/", path-prefix: "../wts/", cleanup: never}\n'

describe('a worktree', () => {
  it('has a branch and a folder named after the sprint', () => {
    expect(worktree('worktree: {enabled: true}\n')).toEqual({
      enabled: true,
      branch: 'sprint/2026-03-04_big_thing',
      path: '../2026-03-04_big_thing-worktree',
      cleanup: 'on-complete',
    })
  })

  it('can be enabled by the workflow', () => {
    expect(worktree('', shared)).toEqual({
      enabled: true,
      branch: 'wip/2026-03-04_big_thing',
      path: '../wts/2026-03-04_big_thing',
      cleanup: 'never',
    })
  })

  it('follows SPRINT.yaml, with variables replaced', () => {
    const sprint =
      'worktree: {enabled: true, branch: "f/{sprint-name}-{date}", path: "../x/{sprint-id}-{workflow}", cleanup: on-merge}\n'

    expect(worktree(sprint, shared)).toEqual({
      enabled: true,
      branch: 'f/big_thing-2026-03-04',
      path: '../x/2026-03-04_big_thing-w',
      cleanup: 'on-merge',
    })
    expect(worktree('sprint-id: plain\nworktree: {enabled: true, branch: "{date}"}\n')).toMatchObject({
      branch: '2026-03-05',
    })
  })

  it('is absent if SPRINT.yaml disables it', () => {
    expect(worktree('worktree: {enabled: false}\n', shared)).toBeUndefined()
  })

  it.each([
    'x;touch${IFS}PWNED;',
    'a b',
    '-x',
    'a..b',
    'a//b',
    'x.lock',
    '$(id)',
    '`id`',
    'a~b',
    'end/',
    '.hidden',
    '@',
  ])('refuses the branch %j', (branch) => {
    const sprint = `workflow: w\nworktree: {enabled: true, branch: '${branch}'}\n`
    const { diagnostics } = compileTest(sprint, { w: 'name: W\nphases: [{id: a, prompt: A}]\n' })

    expect(listErrors(diagnostics)).toEqual(['WORKTREE_INVALID_BRANCH_NAME SPRINT.yaml:2:35'])
  })
})
