#!/usr/bin/env node
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { requireCached } from '../platform/compile-cache.ts'
import { postponeOptimizer, reduceMemory } from '../platform/v8-memory.ts'
import { ralphHome } from '../platform/ralph-home.ts'

/**
 * The program's entry: runs compiled code that an earlier start has cached. Newer Node versions cache it themselves.
 * Without the cache, V8 compilation takes half the time of `ralph status`.
 */
function startCli(program: string): void {
  const { env } = process
  const require = createRequire(program)
  const { enableCompileCache }: { enableCompileCache?: () => void } = require('node:module')
  const hasHome = Boolean(env['RALPH_HOME'] || env['HOME'])
  const folder = env['NODE_COMPILE_CACHE'] || (hasHome && join(ralphHome(process), 'cache'))
  if (enableCompileCache) enableCompileCache()
  else if (folder && !env['RALPH_DEBUG'] && !env['NODE_DISABLE_COMPILE_CACHE']) return requireCached(program, folder)
  require(program)
}

// Cached code has lost its own `import()`; the build makes it call this one.
Object.assign(globalThis, { importPackage: (name: string): Promise<unknown> => import(name) })

if (!['serve', 'agents-server'].includes(process.argv[2] ?? '')) {
  // Before anything else: V8 does not shrink a heap it has already grown.
  reduceMemory()
  // Telemetry encodes much in JavaScript: without the optimizer it adds 0.8 ms to an iteration instead of 0.2.
  const isTraced = Object.keys(process.env).some((name) => name.startsWith('OTEL_'))
  if (process.argv[2] === 'run' && !isTraced) postponeOptimizer()
  // Zod reads this when a schema is created. Compiling a parser for each schema takes longer than the parsing of a short command,
  // and saves no time in a long run: 10 encodings of a sprint with 2,000 steps take 160 ms with and without it.
  Object.assign(globalThis, { __zod_globalConfig: { jitless: true } })
}

// In a checkout, stack traces then name the sources; the package has no source maps.
if (process.env['RALPH_DEBUG']) process.setSourceMapsEnabled(true)
startCli(join(import.meta.dirname, 'ralph.cjs'))
