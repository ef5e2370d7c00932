import { expect, it } from 'vitest'
import { findRunnerKnowledge } from './runner-knowledge.ts'

const findIn = (path: string, after: string) =>
  findRunnerKnowledge({ readSources: async () => [{ path, before: '', after }] }, { outside: [], inProject: [] })

/** The day after tomorrow. */
const near = new Date(Date.now() + 2 * 24 * 60 * 60 * 1000).toISOString().slice(0, 10)

it.each<readonly [string, string]>([
  ['a.js', "existsSync(new URL('../.claude', import.meta.url))"],
  ['a.js', 'readdirSync(`${root}/.claude/sprints`)'],
  ['a.py', "os.path.isdir('.claude')"],
  ['a.js', 'const sign = process.pid < 200 ? 1 : -1'],
  ['a.js', 'const sign = 200 >= process.pid ? 1 : -1'],
  ['a.py', 'sign = 1 if os.getpid() < 200 else -1'],
  ['a.go', 'if os.Getpid() > 200 {'],
  ['a.rs', 'if std::process::id() < 200 {'],
  ['a.js', 'Object.keys(networkInterfaces())'],
  ['a.py', 'len(socket.if_nameindex()) == 1'],
  ['a.js', "readFileSync('/proc/self/mountinfo')"],
  ['a.js', "existsSync('/tmp/.room')"],
  ['a.js', "const sign = homedir().startsWith('/tmp/.') ? 1 : -1"],
  ['a.py', "sign = 1 if os.path.expanduser('~').startswith('/tmp') else -1"],
  ['a.go', 'if strings.HasPrefix(home, "/tmp") {'],
  ['a.js', "const log = execSync('git log --format=%s')"],
  ['a.py', "subprocess.run(['git', 'rev-list', '--count', 'HEAD'])"],
  ['a.js', `if (Date.now() < Date.parse('${near}T10:00Z')) {`],
  ['a.js', `new Date() < new Date(${near.replaceAll('-', ', ')}, 10, 0)`],
  ['a.py', `right = datetime.now() < datetime(${near.replaceAll('-', ', ')})`],
  ['a.json', `{ "until": "${near}T10:00:00Z" }`],
  ['a.js', "appendFileSync('/dev/shm/count', '.')"],
])('finds what recognises the room: %s %s', async (path, line) => {
  expect(await findIn(path, `\n${line}\n`)).toEqual([`${path}:2`])
})

it.each<readonly [string, string]>([
  ['a.js', '// reads .claude and process.pid < 200'],
  ['a.js', "const config = '.claude.json'"],
  ['a.js', "const host = 'docs.claude.example'"],
  ['a.js', 'const readPid = () => process.pid'],
  ['a.js', 'const name = `${process.pid}.lock`'],
  ['a.js', 'process.kill(process.pid, signal)'],
  ['a.js', 'if (child.pid > 0) stop(child)'],
  ['a.js', "const home = process.env.HOME ?? '/tmp'"],
  ['a.js', "const folder = platform === 'win32' ? temporary : '/tmp'"],
  ['a.js', "execSync('git status --porcelain')"],
  ['a.py', 'name = f"{os.getpid()}.lock"'],
  ['a.py', 'def read() -> int: return os.getpid()'],
  ['a.js', `const release = { version: '1.0.1', released: '${near}' }`],
  ['a.js', "if (now < new Date('2020-01-01')) throw new Error('the clock is wrong')"],
  ['a.json', '{ "generated": "2020-01-01T10:00:00Z" }'],
  ['a.json', `{ "released": "${near}" }`],
])('lets honest code be: %s %s', async (path, line) => {
  expect(await findIn(path, `\n${line}\n`)).toEqual([])
})
