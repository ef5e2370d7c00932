import { it } from 'vitest'
import { simulate } from '/work/main/test/simulation/simulate.ts'
it('s', async () => {
  const n = Number(process.env['N'] ?? 300),
    from = Number(process.env['FROM'] ?? 1)
  const t = performance.now()
  const stat: Record<string, number> = {}
  const bad = new Map<string, string[]>()
  let lives = 0,
    crashes = 0,
    iterations = 0
  for (let seed = from; seed < from + n; seed++) {
    const r = await simulate(seed)
    lives += r.lives
    crashes += r.crashes
    iterations += r.iterations
    stat[r.status] = (stat[r.status] ?? 0) + 1
    for (const v of r.violations) {
      const k = v.replace(/\d+/g, 'N').slice(0, 110)
      bad.set(k, [...(bad.get(k) ?? []), `${seed}`])
    }
  }
  console.log({ n, ms: performance.now() - t, lives, crashes, iterations, stat })
  for (const [k, v] of bad) console.log(v.length, k, v.slice(0, 6).join(' '))
}, 600_000)
