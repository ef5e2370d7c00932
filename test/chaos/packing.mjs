// Packs the attempts of the sprint that it is given, until it is killed. Started by packing.test.ts; needs dist/.
const { packAttempts } = await import(new URL('../../dist/storage/sprint/pack-attempts.js', import.meta.url).href)

const [sprintDir, iterations] = process.argv.slice(2)
process.stdout.write('begun\n')
await packAttempts(sprintDir, { live: [], hookTasks: [], stats: { currentIteration: Number(iterations) } })
