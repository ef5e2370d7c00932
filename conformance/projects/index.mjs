// The small red projects of the corpus. `ask` prints the sum of its arguments: the judge asks it with numbers that no test has.
const plus = (file) => `sed -i 's/total - number/total + number/' ${file}`
const pythonPlus = `sed -i 's/result -= number/result += number/' calc/sums.py`

export const projects = {
  /** A package from npm: the case fetches it. */
  package: { check: 'npm test', needs: [], ask: '', fix: ':' },
  node: { check: 'npm test', needs: [], ask: 'node cli/sum.js', fix: plus('src/sum.js') },
  'node-deps': {
    check: 'npm test',
    needs: [],
    ask: 'node cli/sum.js',
    fix: plus('src/sum.js'),
    setup: 'npm ci --offline --silent --no-audit --no-fund',
  },
  workspaces: {
    check: 'npm test',
    needs: [],
    ask: 'node cli/sum.mjs',
    fix: plus('packages/sums/src/sum.js'),
    setup: 'npm install --offline --silent --no-audit --no-fund --no-package-lock',
  },
  unittest: { check: 'python3 -m unittest', needs: ['python3'], ask: 'python3 -B -m calc', fix: pythonPlus },
  pytest: { check: 'python3 -m pytest -q', needs: ['pytest'], ask: 'python3 -B -m calc', fix: pythonPlus },
  rust: { check: 'cargo test --offline', needs: ['cargo'], ask: 'cargo run -q --offline --', fix: plus('src/lib.rs') },
  go: {
    check: 'go test ./...',
    needs: ['go'],
    ask: 'go run ./cmd/sum',
    fix: `sed -i 's/total -= number/total += number/' sums.go`,
  },
  make: { check: 'make test', needs: ['make'], ask: 'sh src/sum.sh', fix: plus('src/sum.sh') },
}
