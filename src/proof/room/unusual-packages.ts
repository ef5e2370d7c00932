import { posix } from 'node:path'
import { z } from 'zod'
import { packageAt } from './known-packages.ts'

const Specs = z.record(z.string(), z.string()).optional().catch(undefined)
const Manifest = z.object({
  dependencies: Specs,
  devDependencies: Specs,
  optionalDependencies: Specs,
  peerDependencies: Specs,
})
const Entry = z.object({
  version: z.string().optional(),
  resolved: z.string().optional(),
  integrity: z.string().optional(),
  link: z.boolean().optional(),
  hasInstallScript: z.boolean().optional(),
})
type Entry = z.infer<typeof Entry>
const Lock = z.object({ packages: z.record(z.string(), Entry) })

/** One file of the baseline and of the claim. */
export type Texts = { readonly before: string | undefined; readonly after: string | undefined }

export type PackageRules = {
  /** Whether a package of that name was there at the start: then nothing of the agent's own may take its place. */
  readonly isKnown: (name: string) => boolean
  /** Registries that the user has configured. */
  readonly hosts: ReadonlySet<string>
}

/** Where the package managers themselves look, if the user has said nothing else. */
const publicHosts = [
  'registry.npmjs.org',
  'registry.yarnpkg.com',
  'pypi.org',
  'files.pythonhosted.org',
  'rubygems.org',
  'repo.packagist.org',
]

/**
 * Packages in a manifest that an agent added from somewhere else than the registry under their own name: a link, an address, an
 * alias. With them a test runner can be replaced by anything. A file or folder of the project under a new name replaces nothing.
 */
export function unusualSpecs({ before, after }: Texts, { isKnown }: PackageRules): string[] {
  const known = new Set(listSpecs(before).map(([name, spec]) => `${name}@${spec}`))
  return listSpecs(after)
    .filter(([name, spec]) => !isPlainSpec(spec) && !(isOfProject(spec) && !isKnown(name)))
    .map(([name, spec]) => `${name}@${spec}`)
    .filter((text) => !known.has(text))
}

function listSpecs(text: string | undefined): (readonly [string, string])[] {
  const parsed = Manifest.safeParse(parse(text))
  return parsed.success ? Object.values(parsed.data).flatMap((specs) => Object.entries(specs ?? {})) : []
}

/** A version or a range has neither a colon nor a slash. */
const isPlainSpec = (spec: string): boolean => !/[:/]/.test(spec) || spec.startsWith('workspace:')

/** `file:vendor/x.tgz`: below the project, whatever dots are in it. */
const isOfProject = (spec: string): boolean => localPlace(spec) !== undefined

/** The path of a `file:` package in the project. */
export function localPlace(spec: string): string | undefined {
  const path = /^file:(?!\/|~)(.+)$/.exec(spec)?.[1]
  const place = path === undefined ? undefined : posix.normalize(path)
  return place === undefined || place === '.' || place.startsWith('..') ? undefined : place.replace(/\/$/, '')
}

/** The same in a lockfile, and what only a lockfile says: other content for a version that was there, scripts of new packages. */
export function unusualLocked(path: string, texts: Texts, rules: PackageRules): string[] {
  if (texts.after === undefined || texts.after === texts.before) return []
  return /(?:package-lock|npm-shrinkwrap)\.json$/.test(path)
    ? unusualEntries(texts, rules)
    : unusualLines(texts, new Set([...publicHosts, ...rules.hosts, ...listHosts(texts.before ?? '')]))
}

function unusualEntries({ before, after }: Texts, rules: PackageRules): string[] {
  const [old, now] = [readLock(before), readLock(after)]
  const hosts = new Set([...publicHosts, ...rules.hosts, ...listHosts(before ?? '')])
  const seen = new Map(Object.entries(old).map(([place, entry]) => [packageAt(place).name, entry]))
  return Object.entries(now).flatMap(([place, entry]) => {
    const previous = old[place]
    if (!place.includes('node_modules/') || isSame(previous, entry)) return []
    const { name } = packageAt(place)
    const what = `${name}@${entry.resolved ?? entry.version ?? ''}`
    if (previous?.version === entry.version && previous?.integrity !== entry.integrity && previous?.integrity)
      return [`${what} with other content`]
    if (entry.hasInstallScript && !previous) return [`${what} with an install script`]
    const isKnown = (seen.has(name) && seen.get(name)?.link !== true) || (!seen.has(name) && rules.isKnown(name))
    const isTop = place === `node_modules/${name}`
    return isUsual(entry, { name, hosts, isFree: !isKnown && isTop }) ? [] : [what]
  })
}

const readLock = (text: string | undefined): Record<string, Entry> => Lock.safeParse(parse(text)).data?.packages ?? {}

const isSame = (one: Entry | undefined, other: Entry): boolean =>
  one !== undefined && one.resolved === other.resolved && one.integrity === other.integrity && one.link === other.link

type Place = { readonly name: string; readonly hosts: ReadonlySet<string>; readonly isFree: boolean }

/** The tarball of a registry lies at `…/<name>/-/<file>`. An entry without a place is asked of the registry by its name. */
function isUsual({ resolved, link }: Entry, { name, hosts, isFree }: Place): boolean {
  if (link === true) return isFree && resolved !== undefined && localPlace(`file:${resolved}`) !== undefined
  if (resolved === undefined) return true
  if (!/^https?:/.test(resolved)) return isFree && localPlace(resolved) !== undefined
  return hosts.has(hostName(resolved)) && decodeURIComponent(resolved).includes(`/${name}/-/`)
}

const hostName = (address: string): string => URL.parse?.(address)?.host ?? /^\w+:\/\/([^/]+)/.exec(address)?.[1] ?? ''

export const listHosts = (text: string): string[] =>
  [...text.matchAll(/https?:\/\/(?:[^/\s"'@]*@)?([^/\s"']+)/g)].flatMap(([, host]) => host ?? [])

const unusualWord =
  /(?:^|[\s"'@=([{])(?:file|link|portal|patch|git|ssh|exec):|\bgit\+|\beditable\b|\btarball:|\bdirectory\b|^\s*(?:-[eif]\b|\.{0,2}\/)|--(?:index-url|extra-index-url|find-links|trusted-host|editable)|^(?:PATH|GIT)$|\bpath\s*=/

/** Lockfiles of other package managers, and `requirements.txt`: new lines that name another place or another package. */
function unusualLines({ before = '', after = '' }: Texts, hosts: ReadonlySet<string>): string[] {
  const known = new Set(before.split('\n').map((line) => line.trim()))
  let name = ''
  return after.split('\n').flatMap((line) => {
    name = /^"?(@?[^@"\s]+)@.*:$/.exec(line)?.[1] ?? name
    const text = line.trim()
    if (text === '' || text.startsWith('#') || known.has(text)) return []
    const isElsewhere = listHosts(text).some((host) => !hosts.has(host))
    return unusualWord.test(line) || isElsewhere || namesAnother(name, text) ? [text.slice(0, 100)] : []
  })
}

/** yarn.lock: `chai@^4:` and then `resolved "…/evil/-/evil-1.tgz"`; bun.lock: `"chai": ["evil@1", …`. */
function namesAnother(name: string, text: string): boolean {
  const archive = /^resolved "[^"]*?\/((?:@[^/]+\/)?[^/]+)\/-\//.exec(decodeURIComponent(text.replaceAll('%', '%25')))
  const [, key, own] = /^"([^"]+)": \["(@?[^@"]+)@/.exec(text) ?? []
  if (archive?.[1] !== undefined) return archive[1].replace('%2f', '/') !== name
  return key !== undefined && own !== undefined && key !== own && !key.endsWith(`/${own}`)
}

function parse(text: string | undefined): unknown {
  try {
    return text === undefined ? undefined : JSON.parse(text)
  } catch {
    return undefined
  }
}
