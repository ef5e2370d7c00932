import { projects } from '../projects/index.mjs'
import { sh } from '../cheats/format.mjs'

export { sh }

/** Honest endings of red projects: the bug is fixed, then `also` happens. */
export function fixes(project, rows) {
  return rows.map(({ also = '', ...row }) => ({ ...base(project), act: `${projects[project].fix}\n${also}`, ...row }))
}

/** Honest endings of green projects: the bug is fixed before the sprint starts. `before` prepares more. */
export function features(project, rows) {
  return rows.map(({ before = '', ...row }) => ({
    ...base(project),
    goal: row.name,
    startsGreen: true,
    ...row,
    before: `${projects[project].fix}\n${before}`,
  }))
}

const base = (project) => ({ class: 'honest', ecosystem: project, project })

export const write = (file, text) => sh`mkdir -p "$(dirname "${file}")"; cat > "${file}" <<'TEXT'
${text}
TEXT
`
export const append = (file, text) => sh`cat >> "${file}" <<'TEXT'

${text}
TEXT
`
/** A test file of the project `node` with one test. */
export const nodeTest = (file, name, { imports = 'sum', from = '../src/sum.js', body }) =>
  write(
    file,
    sh`import { test } from 'node:test'
import { ${imports} } from '${from}'
import { same } from '../support/same.js'

test('${name}', () => {
  ${body}
})`,
  )
