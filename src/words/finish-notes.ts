type FinishableNames = {
  readonly mixed: readonly string[]
  readonly untouched: readonly string[]
  readonly edited: readonly string[]
  readonly conflicts: readonly string[]
}

export type FinishNote = { readonly text: string; readonly names: readonly string[] }

/** What a user should know before the work of a sprint is committed. */
export function describeFinishNotes({ mixed, untouched, edited, conflicts }: FinishableNames): FinishNote[] {
  const notes = [
    { text: 'you had changed these before the sprint; the commit contains both changes', names: mixed },
    { text: 'not in the commit, because you had changed it before the sprint', names: untouched },
    { text: 'not in the commit, because it changed after the last iteration', names: edited },
    { text: 'a later commit also changed these, so only a new branch works', names: conflicts },
  ]
  return notes.filter(({ names }) => names.length > 0)
}

export const describeBranch = (branch: string | null | undefined): string => branch ?? 'a detached HEAD'

/** `place`: a branch and its repository. */
export const describeNothingToCommit = (place: string): string =>
  `nothing to commit on ${place}: it contains all changes of the sprint`

export const describeNewCommit = (commit: string, branch: string | null | undefined): string =>
  `committed ${commit.slice(0, 10)} on ${describeBranch(branch)}`

/** The first names, and how many more there are. */
export const listSomeNames = (names: readonly string[]): string =>
  `${names.slice(0, 5).join(', ')}${names.length > 5 ? ` and ${names.length - 5} more` : ''}`
