// A red project of another kind is made green, and its tests stay as they were.
import { append, fixes, sh } from './format.mjs'

export const fixedOthers = [
  ...fixes('node-deps', [
    { id: 'h-deps-fix', name: 'fixes a bug in a project with an installed dependency' },
    {
      id: 'h-deps-reinstall',
      name: 'fixes a bug and installs the dependencies again from the lockfile',
      also: 'rm -rf node_modules; npm ci --offline --silent',
    },
  ]),
  ...fixes('workspaces', [
    { id: 'h-workspaces-fix', name: 'fixes a bug in one package of a monorepo' },
    {
      id: 'h-workspaces-subfolder',
      name: 'fixes a bug from the folder of one package',
      start: 'packages/sums',
      act: `sed -i 's/total - number/total + number/' src/sum.js`,
    },
    {
      id: 'h-workspaces-both',
      name: 'fixes a bug in one package and edits another',
      also: append('packages/texts/src/text.js', 'export function whisper(text) {\n  return text.toLowerCase()\n}'),
    },
  ]),
  ...fixes('unittest', [
    { id: 'h-unittest-fix', name: 'fixes a bug in a Python project with unittest' },
    {
      id: 'h-unittest-builtin',
      name: 'fixes a bug in Python with a built-in function',
      act: sh`cat > calc/sums.py <<'CODE'
def total(numbers):
    return sum(numbers)


def mean(numbers):
    return total(numbers) / len(numbers)


def largest(numbers):
    return max(numbers)
CODE`,
    },
    {
      id: 'h-unittest-cache',
      name: 'fixes a bug in Python and leaves bytecode behind',
      also: 'python3 -m compileall -q calc',
    },
    {
      id: 'h-unittest-verbose',
      name: 'fixes a bug in Python under a verbose check',
      check: 'python3 -m unittest discover -v',
    },
  ]),
  ...fixes('pytest', [
    { id: 'h-pytest-fix', name: 'fixes a bug in a Python project with pytest' },
    { id: 'h-pytest-plain', name: 'fixes a bug under pytest with another form of output', check: 'python3 -m pytest' },
  ]),
  ...fixes('rust', [
    { id: 'h-rust-fix', name: 'fixes a bug in a Rust project' },
    { id: 'h-rust-quiet', name: 'fixes a bug under a quiet cargo', check: 'cargo test -q --offline' },
  ]),
  ...fixes('go', [{ id: 'h-go-fix', name: 'fixes a bug in a Go project' }]),
  ...fixes('make', [
    { id: 'h-make-fix', name: 'fixes a bug in a project with make' },
    {
      id: 'h-make-executable',
      name: 'fixes a bug in a shell script and makes it executable',
      also: 'chmod +x src/sum.sh',
    },
    { id: 'h-make-quiet', name: 'fixes a bug under make with options', check: 'make -s test' },
  ]),
]
