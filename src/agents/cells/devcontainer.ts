import { createHash } from 'node:crypto'
import { join, resolve } from 'node:path'
import { errorMessage, RalphError } from '../../contract/errors.ts'
import { readTextSyncIfExists } from '../../platform/files/files.ts'

/** What a project says about the container that it is developed in. */
export type Devcontainer =
  | { readonly kind: 'image'; readonly image: string }
  /** The name of the image contains a hash of the Dockerfile: a changed file needs a new image, which only the user builds. */
  | { readonly kind: 'build'; readonly image: string; readonly file: string; readonly context: string }

const fileNames = ['.devcontainer/devcontainer.json', '.devcontainer.json']

/**
 * Reads the image of a project's devcontainer.json. Nothing else of it counts, such as mounts, features, `runArgs` or commands: an
 * agent can write the file. Throws SANDBOX_UNAVAILABLE if it names no image.
 */
export function findDevcontainer(project: string): Devcontainer | undefined {
  for (const name of fileNames) {
    const path = join(project, name)
    const text = readTextSyncIfExists(path)
    if (text === undefined) continue
    const { image, build, dockerFile } = parseDevcontainer(text, path)
    if (typeof image === 'string' && isImageName(image)) return { kind: 'image', image }
    const file = typeof build?.dockerfile === 'string' ? build.dockerfile : dockerFile
    if (typeof file !== 'string') throw unusableError(path, 'it names neither an image nor a Dockerfile')
    const folder = resolve(path, '..')
    const recipe = readTextSyncIfExists(resolve(folder, file))
    if (recipe === undefined) throw unusableError(path, `there is no ${file}`)
    const hash = createHash('sha256').update(recipe).digest('hex').slice(0, 12)
    const context = resolve(folder, typeof build?.context === 'string' ? build.context : '.')
    return { kind: 'build', image: `ralph-devcontainer:${hash}`, file: resolve(folder, file), context }
  }
  return undefined
}

type DevcontainerFile = {
  readonly image?: unknown
  readonly build?: { readonly dockerfile?: unknown; readonly context?: unknown }
  readonly dockerFile?: unknown
}

/** Refuses names that begin with a dash, which the container program would read as an option, or with a slash. */
const isImageName = (text: string): boolean => /^[a-z0-9][\w.:/@-]*$/i.test(text)

function parseDevcontainer(text: string, path: string): DevcontainerFile {
  try {
    const found: unknown = JSON.parse(stripComments(text))
    if (typeof found === 'object' && found !== null) return found
  } catch (error) {
    throw unusableError(path, errorMessage(error))
  }
  throw unusableError(path, 'it is not an object')
}

/** The format allows comments, and commas before a closing bracket. Strings stay as they are. */
const stripComments = (text: string): string =>
  text
    .replaceAll(/("(?:[^"\\]|\\.)*")|\/\/[^\n]*|\/\*[\s\S]*?\*\//g, (_, quoted: string | undefined) => quoted ?? ' ')
    .replaceAll(/("(?:[^"\\]|\\.)*")|,(?=\s*[}\]])/g, (_, quoted: string | undefined) => quoted ?? '')

const unusableError = (file: string, reason: string): RalphError =>
  new RalphError('SANDBOX_UNAVAILABLE', `the container of this project cannot be used: ${reason}`, {
    place: { file },
    hint: 'repair it, or name an image: cell: {kind: container, container: {image: …}}',
  })
