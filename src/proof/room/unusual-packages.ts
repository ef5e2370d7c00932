import { z } from 'zod'

const Specs = z.record(z.string(), z.string()).optional().catch(undefined)
const Manifest = z.object({
  dependencies: Specs,
  devDependencies: Specs,
  optionalDependencies: Specs,
  peerDependencies: Specs,
})
const Lock = z.object({
  packages: z.record(z.string(), z.object({ name: z.string().optional(), resolved: z.string().optional() })),
})

/** One file of the baseline and of the claim. */
type Texts = { readonly before: string | undefined; readonly after: string | undefined }

/**
 * Packages that an agent added from somewhere else than the registry under their own name: a link, an address, an alias. With
 * them a test runner can be replaced by anything.
 */
export const unusualPackages = (manifest: Texts, lock: Texts): string[] => [
  ...new Set([...news(manifest, unusualSpecs), ...news(lock, unusualSources)]),
]

function news({ before, after }: Texts, find: (text: string) => readonly string[]): string[] {
  const known = new Set(before === undefined ? [] : find(before))
  return after === undefined ? [] : find(after).filter((name) => !known.has(name))
}

/** A version or a range has neither a colon nor a slash. */
function unusualSpecs(text: string): string[] {
  const parsed = Manifest.safeParse(parse(text))
  if (!parsed.success) return []
  return Object.values(parsed.data)
    .flatMap((specs) => Object.entries(specs ?? {}))
    .filter(([, spec]) => /[:/]/.test(spec) && !spec.startsWith('workspace:'))
    .map(([name, spec]) => `${name}@${spec}`)
}

/** The tarball of a registry lies at `…/<name>/-/<file>`. */
function unusualSources(text: string): string[] {
  const parsed = Lock.safeParse(parse(text))
  if (!parsed.success) return []
  return Object.entries(parsed.data.packages).flatMap(([place, { resolved }]) => {
    const name = place.split('node_modules/').at(-1) ?? ''
    if (resolved === undefined || !place.includes('node_modules/')) return []
    const isOwn = /^https?:/.test(resolved) && decodeURIComponent(resolved).includes(`/${name}/-/`)
    return isOwn || !/:/.test(resolved) ? [] : [`${name}@${resolved}`]
  })
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
