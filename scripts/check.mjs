// npm run check -- [name …]: all rules that a tool can check, or the ones that are named.
import { spawnSync } from 'node:child_process'

const checks = {
  format: 'oxfmt --check .',
  // No compiler reads the programs outside src and test, so a rename could leave an undefined name behind.
  lint: 'oxlint --type-aware --deny-warnings src test && oxlint -c scripts/house/programs.oxlintrc.json bench conformance scripts',
  voice: 'node scripts/house.mjs --check',
  build: 'node scripts/build.mjs',
  dead: 'knip',
  schemas: 'node scripts/schemas.mjs --check',
  docs: ['cli-docs', 'reference-docs', 'fleet-docs', 'pictures', 'readme-proof']
    .map((name) => `node scripts/${name}.mjs --check`)
    .join(' && '),
  prose: 'node scripts/prose.mjs --check',
}

const names = process.argv.slice(2)
const unknown = names.filter((name) => !(name in checks))
if (unknown.length > 0) {
  console.error(`no check is called ${unknown.join(', ')}; there are: ${Object.keys(checks).join(', ')}`)
  process.exit(1)
}
for (const name of names.length > 0 ? names : Object.keys(checks)) {
  const { status } = spawnSync(checks[name], { shell: true, stdio: 'inherit' })
  if (status !== 0) {
    console.error(`npm run check -- ${name} failed`)
    process.exit(status ?? 1)
  }
}
