import { basename, dirname, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { RalphError } from '../../contract/errors.ts'
import type { CommandOptions } from '../io/command.ts'
import type { Io } from '../io/io.ts'
import { findSprint, isSprintFolder, listSprintFolders, lookUpSprint, sprintName } from './find-sprint.ts'

const placeholder = '<sprint>'

type Invocation = { readonly args: readonly string[]; readonly options: CommandOptions }

/**
 * Puts the name of the sprint into a hint, so that users can copy it: the one that the error is about, the one that the command
 * named, or the only one. Otherwise the placeholder stays: the hint can be a command that deletes.
 * Storage cannot do it, because names depend on the folder in which the user is.
 */
export async function nameSprintInHint(error: RalphError, invocation: Invocation, io: Io): Promise<RalphError> {
  const { code, message, hint, place, cause } = error
  if (!hint?.includes(placeholder)) return error
  try {
    const name =
      (await nameFromPlace(place?.file, io)) ?? (await nameFromArgs(invocation, { ...io, printError: () => {} }))
    if (name === undefined) return error
    return new RalphError(code, message, { ...(place && { place }), hint: hint.replaceAll(placeholder, name), cause })
  } catch {
    return error
  }
}

async function nameFromPlace(file: string | undefined, io: Io): Promise<string | undefined> {
  if (file === undefined) return undefined
  const path = resolve(io.cwd, file)
  const folder = ['SPRINT.yaml', 'PROGRESS.yaml'].includes(basename(path)) ? dirname(path) : path
  return isSprintFolder(folder) ? sprintName(folder, io) : undefined
}

async function nameFromArgs({ args, options }: Invocation, io: Io): Promise<string | undefined> {
  const { positionals } = parseArgs({ args: [...args], options: { ...options }, allowPositionals: true, strict: false })
  for (const text of positionals) {
    // oxlint-disable-next-line no-await-in-loop -- the first that names a sprint
    const found = await lookUpSprint(text, io)
    // The beginning of a name may also be a word of something else.
    if (found && [found.name, found.sprintDir, basename(found.sprintDir)].includes(text)) return found.name
  }
  const isOnlyOne = positionals.length === 0 && (await listSprintFolders(io)).length === 1
  return isOnlyOne ? (await findSprint(undefined, io)).name : undefined
}
