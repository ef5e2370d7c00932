import { expect, it } from 'vitest'
import { createTestDatabase } from '../../../../test/fleet/test-fleet.ts'
import { vacuumFullestTable } from './vacuum.ts'

it('vacuums dead rows, so that a table with few rows stays small', async () => {
  const { pool } = await createTestDatabase('embedded')
  await pool.query('create table few (id int primary key, text text)')
  const change = async () => {
    await pool.query(`insert into few select n, repeat('x', 500) from generate_series(1, 1000) as n`)
    await pool.query('delete from few')
    // Otherwise statistics are flushed once a second.
    await pool.query('select pg_stat_force_next_flush()')
  }
  const size = async () => Number((await pool.query(`select pg_total_relation_size('few') as size`)).rows[0].size)
  await change()
  const untidy = await size()
  for (let n = 0; n < 5; n++) {
    await change()
    expect(await vacuumFullestTable(pool)).toBe('few')
  }
  expect(await size()).toBeLessThan(untidy)
})
