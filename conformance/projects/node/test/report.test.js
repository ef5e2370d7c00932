import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { report } from '../src/report.js'
import { same } from '../support/same.js'

test('report looks like its snapshot', () => {
  same(report([4, 5]), readFileSync(new URL('./snapshots/report.txt', import.meta.url), 'utf8'))
})
