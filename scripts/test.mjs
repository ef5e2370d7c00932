// npm run test:more -- <name>: the long runs that `npm test` holds only a sample of.
import { spawnSync } from 'node:child_process'

const runs = {
  chaos: { env: { CHAOS: '1' }, args: ['--project', 'e2e', 'test/chaos'] },
  restore: {
    env: { RESTORE_SEQUENCES: '10000' },
    args: ['--project', 'unit', 'src/storage/git/restore-sequences.test.ts'],
  },
  simulation: { env: { SEEDS: '60000' }, args: ['--project', 'e2e', 'test/simulation'] },
  replicas: {
    env: { REPLICA_KILLS: '100', POSTGRES_CRASHES: '20' },
    args: ['--project', 'e2e', 'test/fleet/replicas.test.ts'],
  },
  fleet: { env: { FLEET_SEEDS: '500' }, args: ['--project', 'e2e', 'test/fleet/under-fire.test.ts'] },
  sse: { env: { SSE_CLIENTS: '1000' }, args: ['--project', 'e2e', 'test/fleet/sse.test.ts'] },
  outage: { env: { OUTAGE_MS: '60000' }, args: ['--project', 'e2e', 'test/fleet/outage.test.ts'] },
  agents: { args: ['--config', 'test/agents/vitest.config.ts'] },
  package: { args: ['--config', 'test/package/vitest.config.ts'] },
  containers: { args: ['--config', 'test/containers/vitest.config.ts'] },
  planted: { program: ['node', 'test/planted/run.mjs'] },
}

const [name = '', ...rest] = process.argv.slice(2)
const run = runs[name]
if (!run) {
  console.error(`npm run test:more -- <name>, one of: ${Object.keys(runs).join(', ')}`)
  process.exit(1)
}
const [file, ...args] = run.program ?? ['npx', 'vitest', 'run', ...run.args]
const { status } = spawnSync(file, [...args, ...rest], { stdio: 'inherit', env: { ...run.env, ...process.env } })
process.exit(status ?? 1)
