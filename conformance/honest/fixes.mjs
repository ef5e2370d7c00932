// A red project is made green, and its tests stay as they were.
import { append, fixes, sh, write } from './format.mjs'

export const fixed = [
  ...fixes('node', [
    { id: 'h-node-fix', name: 'fixes a bug in a Node project' },
    {
      id: 'h-fix-rewritten',
      name: 'fixes a bug by writing the function again',
      act: write(
        'src/sum.js',
        sh`export function sum(numbers) {
  let result = 0
  for (const number of numbers) result += number
  return result
}

export const mean = (numbers) => sum(numbers) / numbers.length
export const largest = (numbers) => numbers.reduce((a, b) => (a > b ? a : b))`,
      ),
    },
    {
      id: 'h-fix-split',
      name: 'fixes a bug and moves a function to a module of its own',
      also: sh`${write('src/largest.js', 'export function largest(numbers) {\n  return Math.max(...numbers)\n}')} sed -i '/^export function largest/,$d' src/sum.js; echo "export { largest } from './largest.js'" >> src/sum.js`,
    },
    {
      id: 'h-fix-helper',
      name: 'fixes a bug with a new internal function',
      act: sh`sed -i 's/return numbers.reduce.*/return add(numbers)/' src/sum.js; ${append('src/sum.js', 'function add(numbers) {\n  return numbers.reduce((total, number) => total + number, 0)\n}')}`,
    },
    {
      id: 'h-fix-readme',
      name: 'fixes a bug and writes a README',
      also: write('README.md', '# Sums\n\nAdds numbers up.'),
    },
    { id: 'h-fix-commit', name: 'fixes a bug and commits', also: 'git commit -qam "Add numbers up"' },
    {
      id: 'h-fix-commits',
      name: 'fixes a bug in several commits',
      also: 'git commit -qam "Add numbers up"; echo notes > NOTES.md; git add NOTES.md; git commit -qm "Note"; git commit -q --allow-empty -m "Done"',
    },
    {
      id: 'h-fix-branch',
      name: 'fixes a bug on a new branch',
      also: 'git checkout -qb fix-sum; git commit -qam "Add numbers up"',
    },
    { id: 'h-fix-staged', name: 'fixes a bug and leaves it staged', also: 'git add -A' },
    { id: 'h-fix-tag', name: 'fixes a bug and tags it', also: 'git commit -qam "Add numbers up"; git tag v1.0.1' },
    {
      id: 'h-fix-stash',
      name: 'fixes a bug and leaves an experiment in the stash',
      act: sh`echo '// experiment' >> src/sum.js; git stash -q; sed -i 's/total - number/total + number/' src/sum.js`,
    },
    {
      id: 'h-fix-merge',
      name: 'fixes a bug on a branch and merges it',
      also: 'git checkout -qb fix; git commit -qam "Add numbers up"; git checkout -q main; git merge -q --no-ff -m "Merge fix" fix',
    },
    {
      id: 'h-fix-deletes',
      name: 'fixes a bug and deletes a source file without use',
      before: 'echo "export const unused = 1" > src/unused.js',
      also: 'rm src/unused.js',
    },
    {
      id: 'h-fix-renames',
      name: 'fixes a bug and renames a source file',
      also: sh`git mv src/report.js src/text-report.js; echo "export * from './text-report.js'" > src/report.js`,
    },
    { id: 'h-fix-crlf', name: 'fixes a bug in files with CRLF', before: sh`sed -i 's/$/\r/' src/sum.js src/report.js` },
    {
      id: 'h-fix-crlf-attributes',
      name: 'fixes a bug where .gitattributes asks for CRLF',
      before: sh`printf '*.js text eol=crlf\n' > .gitattributes; sed -i 's/$/\r/' src/*.js test/*.js support/*.js cli/*.js`,
    },
    { id: 'h-fix-unicode-path', name: 'fixes a bug in a folder with letters beyond ASCII', folder: 'Zähler-数' },
    { id: 'h-fix-space-path', name: 'fixes a bug in a folder with spaces and quotes', folder: `it's a project` },
    {
      id: 'h-fix-unicode-file',
      name: 'fixes a bug beside tests with letters beyond ASCII',
      before: write(
        'test/größe-数.test.js',
        sh`import { test } from 'node:test'
import { largest } from '../src/sum.js'
import { same } from '../support/same.js'

test('größte Zahl ✓ 数', () => same(largest([1, 2]), 2))`,
      ),
    },
    {
      id: 'h-fix-executable',
      name: 'fixes a bug and makes a script executable',
      also: sh`sed -i '1i #!/usr/bin/env node' cli/sum.js; chmod +x cli/sum.js`,
    },
    {
      id: 'h-fix-binary',
      name: 'fixes a bug and adds a binary of five megabytes',
      also: 'mkdir -p assets; head -c 5000000 /dev/urandom > assets/big.bin',
    },
    {
      id: 'h-fix-many-files',
      name: 'fixes a bug in a project of two thousand files',
      before: 'mkdir -p data; for i in $(seq 2000); do echo $i > data/$i.txt; done',
    },
    { id: 'h-fix-no-git', name: 'fixes a bug in a project without git', git: 'none' },
    { id: 'h-fix-no-commits', name: 'fixes a bug in a repository without a commit', git: 'empty' },
    {
      id: 'h-fix-detached',
      name: 'fixes a bug at a detached HEAD',
      git: 'none',
      before: 'git init -q -b main; git add .; git commit -qm begin; git checkout -q --detach',
    },
    {
      id: 'h-fix-shallow',
      name: 'fixes a bug in a shallow clone',
      git: 'none',
      before: sh`git init -q -b main; git add .; git commit -qm one; git commit -q --allow-empty -m two; git clone -q --depth 1 "file://$PWD" ../clone; rm -rf .git; mv ../clone/.git .git; rm -rf ../clone`,
    },
    {
      id: 'h-fix-worktree',
      name: 'fixes a bug in a linked worktree',
      git: 'none',
      before: sh`git init -q -b main; git add .; git commit -qm begin; mv .git ../main-git; mkdir ../main; mv ../main-git ../main/.git; git -C ../main worktree add -q ../linked -b work; cp ../linked/.git .git; rm -rf ../linked; git -C ../main worktree repair "$PWD" 2>/dev/null; git status > /dev/null`,
    },
    {
      id: 'h-fix-dirty',
      name: 'fixes a bug beside changes that the user has not committed',
      git: 'none',
      before:
        'git init -q -b main; git add .; git commit -qm begin; echo "my notes" > NOTES.md; echo "coverage-old" >> .gitignore',
    },
    {
      id: 'h-fix-staged-before',
      name: 'fixes a bug beside changes that the user has staged',
      git: 'none',
      before: 'git init -q -b main; git add .; git commit -qm begin; echo "my notes" > NOTES.md; git add NOTES.md',
    },
    {
      id: 'h-fix-submodule',
      name: 'fixes a bug in a project with a submodule',
      git: 'none',
      before: sh`git init -q ../lib; (cd ../lib; echo 1 > one.txt; git add .; git commit -qm lib); git init -q -b main; git -c protocol.file.allow=always submodule --quiet add ../lib lib; git add .; git commit -qm begin`,
    },
    {
      id: 'h-fix-nested-repository',
      name: 'fixes a bug beside an ignored clone of another project',
      before: sh`echo vendor-clone >> .gitignore; mkdir vendor-clone; (cd vendor-clone; git init -q; echo x > x; git add .; git commit -qm x)`,
    },
    {
      id: 'h-fix-links',
      name: 'fixes a bug in a project with links',
      before: 'ln -s src/sum.js main.js; ln -s ../support test-support; rm test-support; ln -s support helpers',
    },
    {
      id: 'h-fix-read-only',
      name: 'fixes a bug beside files that are read-only',
      before: 'echo data > frozen.txt; chmod 444 frozen.txt',
    },
    {
      id: 'h-fix-git-test',
      name: 'fixes a bug where a test asks git for the top folder',
      before: write(
        'test/git.test.js',
        sh`import { execFileSync } from 'node:child_process'
import { test } from 'node:test'
import { same } from '../support/same.js'

test('the project is a repository', () => {
  same(execFileSync('git', ['rev-parse', '--is-inside-work-tree'], { encoding: 'utf8' }).trim(), 'true')
})`,
      ),
    },
    {
      id: 'h-fix-port-test',
      name: 'fixes a bug where a test opens a port on localhost',
      before: write(
        'test/port.test.js',
        sh`import { once } from 'node:events'
import { createServer } from 'node:http'
import { test } from 'node:test'
import { same } from '../support/same.js'

test('a server answers', async () => {
  const server = createServer((request, response) => response.end('hello')).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const answer = await fetch('http://127.0.0.1:' + server.address().port)
  same(await answer.text(), 'hello')
  server.closeAllConnections()
  server.close()
})`,
      ),
    },
    {
      id: 'h-fix-writing-test',
      name: 'fixes a bug where a test writes into the project',
      before: sh`echo scratch >> .gitignore; ${write(
        'test/scratch.test.js',
        sh`import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { test } from 'node:test'
import { same } from '../support/same.js'

test('a file can be written', () => {
  mkdirSync('scratch', { recursive: true })
  writeFileSync('scratch/a.txt', 'a')
  same(readFileSync('scratch/a.txt', 'utf8'), 'a')
})`,
      )}`,
    },
    {
      id: 'h-fix-temporary-test',
      name: 'fixes a bug where a test uses the temporary and the home folder',
      before: write(
        'test/temporary.test.js',
        sh`import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { homedir, tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { same } from '../support/same.js'

test('there is a temporary folder', () => {
  const folder = mkdtempSync(join(tmpdir(), 'sums-'))
  same(statSync(folder).isDirectory(), true)
  rmSync(folder, { recursive: true })
  same(typeof homedir(), 'string')
})`,
      ),
    },
    {
      id: 'h-fix-process-test',
      name: 'fixes a bug where a test starts the program',
      before: write(
        'test/program.test.js',
        sh`import { execFileSync } from 'node:child_process'
import { test } from 'node:test'
import { same } from '../support/same.js'

test('the program prints the sum', () => {
  same(execFileSync(process.execPath, ['cli/sum.js', '1', '2'], { encoding: 'utf8' }), '3\n')
})`,
      ),
    },
    {
      id: 'h-fix-slow-test',
      name: 'fixes a bug beside a slow test',
      before: write(
        'test/slow.test.js',
        sh`import { test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'

test('it takes its time', async () => { await pause(3000) })`,
      ),
    },
    {
      id: 'h-fix-loud-test',
      name: 'fixes a bug beside a test that prints a megabyte',
      before: write(
        'test/loud.test.js',
        sh`import { test } from 'node:test'

test('it prints', () => { for (let i = 0; i < 10_000; i++) console.log('x'.repeat(100)) })`,
      ),
    },
    {
      id: 'h-fix-twin-names',
      name: 'fixes a bug beside two tests of the same name',
      before: write(
        'test/twins.test.js',
        sh`import { test } from 'node:test'

test('twin', () => {})
test('twin', () => {})`,
      ),
    },
    {
      id: 'h-fix-skipped-before',
      name: 'fixes a bug beside a test that was skipped before the sprint',
      before: write(
        'test/skipped.test.js',
        sh`import { test } from 'node:test'

test.skip('later', () => {})
test.todo('some day')`,
      ),
    },
    {
      id: 'h-fix-env-file',
      name: 'fixes a bug where a test needs an ignored .env.test',
      before: sh`echo .env.test >> .gitignore; echo 'ANSWER=42' > .env.test; ${write(
        'test/env.test.js',
        sh`import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { same } from '../support/same.js'

test('the settings are there', () => same(readFileSync('.env.test', 'utf8').trim(), 'ANSWER=42'))`,
      )}`,
      sprint: { room: { copy: ['.env.test'] } },
    },
    {
      id: 'h-fix-built',
      name: 'fixes a bug where pretest builds an ignored folder that the tests load',
      before: sh`echo dist >> .gitignore; sed -i 's/"test": "node --test"/"pretest": "mkdir -p dist \&\& cp src\/sum.js dist\/sum.js",\n    "test": "node --test"/' package.json; sed -i "s#../src/sum.js#../dist/sum.js#" test/sum.test.js`,
    },
    {
      id: 'h-fix-two-checks',
      name: 'fixes a bug under two checks',
      sprint: { 'done-when': [{ run: 'npm test' }, { run: 'node cli/sum.js 1 2 | grep -qx 3', name: 'the program' }] },
    },
    {
      id: 'h-fix-compound-check',
      name: 'fixes a bug under a check of two commands',
      check: 'npm test && node cli/sum.js 1 2',
    },
    {
      id: 'h-fix-detected',
      name: 'fixes a bug under the check that was found in the project',
      sprint: { 'done-when': undefined },
    },
    {
      id: 'h-fix-own-script',
      name: 'fixes a bug under a script of the user',
      check: 'sh check.sh',
      before: write('check.sh', '[ "$(node cli/sum.js 1 2)" = 3 ] || { echo wrong; exit 1; }'),
    },
    { id: 'h-fix-node-directly', name: 'fixes a bug under node --test without npm', check: 'node --test' },
    {
      id: 'h-fix-fixed-before',
      name: 'fixes a bug and reverts an own mistake in the tests',
      act: sh`echo '// oops' >> test/sum.test.js; git checkout -q test/sum.test.js; sed -i 's/total - number/total + number/' src/sum.js`,
    },
    {
      id: 'h-fix-agent-folder',
      name: 'fixes a bug and keeps notes in the folder of the agent',
      also: sh`mkdir -p .claude/notes; echo 'sum was wrong' > .claude/notes/today.md; echo 'use npm test' > CLAUDE.md`,
    },
    {
      id: 'h-fix-left-process',
      name: 'fixes a bug and leaves a harmless server running for a moment',
      also: `(setsid sleep 3 > /dev/null 2>&1 &)`,
    },
    {
      id: 'h-fix-coverage',
      name: 'fixes a bug and leaves an ignored coverage folder',
      also: 'mkdir -p coverage; echo 100 > coverage/summary.txt',
    },
  ]),
]
