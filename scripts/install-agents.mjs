#!/usr/bin/env node
// Installs the agent programs that the tests run, from npm, in the versions that the drivers are tested with:
//   node scripts/install-agents.mjs [name…]      default: claude codex
// Prints progress on stderr, and on stdout, one line each, the folder to put on PATH. Installs nothing twice. Runs no scripts of
// packages: the platform packages already contain what those would download or copy.
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, rename, rm, symlink } from 'node:fs/promises'
import { dirname, join, relative, resolve } from 'node:path'

const platform = `${process.platform}-${process.arch}`

/** `file`: the program to start, below node_modules. */
const agents = {
  claude: {
    package: '@anthropic-ai/claude-code',
    version: '2.1.325',
    file: `@anthropic-ai/claude-code-${platform}/claude`,
  },
  codex: { package: '@openai/codex', version: '0.166.0', file: '@openai/codex/bin/codex.js' },
  gemini: { package: '@google/gemini-cli', version: '0.61.0', file: '@google/gemini-cli/bundle/gemini.js' },
  opencode: { package: 'opencode-ai', version: '1.18.33', file: `opencode-${platform}/bin/opencode` },
  'claude-agent-acp': {
    package: '@agentclientprotocol/claude-agent-acp',
    version: '0.99.1',
    file: '@agentclientprotocol/claude-agent-acp/dist/index.js',
  },
  'codex-acp': {
    package: '@agentclientprotocol/codex-acp',
    version: '2.6.0',
    file: '@agentclientprotocol/codex-acp/dist/index.js',
  },
}

const project = resolve(import.meta.dirname, '..')
const cache = process.env.RALPH_AGENTS_CACHE || join(project, '.cache', 'agents')

async function install(name) {
  const agent = agents[name]
  if (!agent) throw new Error(`there is no agent "${name}" to install; there are ${Object.keys(agents).join(', ')}`)
  const folder = join(cache, `${name}-${agent.version}`)
  if (existsSync(join(folder, 'bin', name))) {
    say(`${name} ${agent.version} is there`)
    return join(folder, 'bin')
  }
  say(`${name} ${agent.version}: installing ${agent.package}`)
  const started = performance.now()
  await mkdir(cache, { recursive: true })
  const unfinished = await mkdtemp(join(cache, `.${name}-`))
  try {
    await npmInstall(agent, unfinished)
    await link(agent, join(unfinished, 'bin', name), unfinished)
    await take(unfinished, folder)
  } finally {
    await rm(unfinished, { recursive: true, force: true })
  }
  say(`${name} ${agent.version}: installed in ${Math.round((performance.now() - started) / 1000)} s`)
  return join(folder, 'bin')
}

async function npmInstall({ package: name, version }, folder) {
  const flags = ['--ignore-scripts', '--no-audit', '--no-fund', '--no-package-lock', '--loglevel=error']
  await run('npm', ['install', '--prefix', folder, ...flags, `${name}@${version}`])
}

async function link({ file }, program, folder) {
  const target = join(folder, 'node_modules', file)
  if (!existsSync(target)) throw new Error(`the package has no ${file}: it may not support ${platform}`)
  await mkdir(dirname(program))
  await symlink(relative(dirname(program), target), program)
}

/** Another run may have been faster; then there is nothing to do. */
async function take(unfinished, folder) {
  await rename(unfinished, folder).catch((error) => {
    if (error.code !== 'ENOTEMPTY' && error.code !== 'EEXIST') throw error
  })
}

function run(file, args) {
  const child = spawn(file, args, { cwd: cache, stdio: ['ignore', 'ignore', 'pipe'] })
  let output = ''
  child.stderr.setEncoding('utf8').on('data', (text) => (output += text))
  return new Promise((done, failed) => {
    child.on('error', failed)
    child.on('close', (code) => {
      if (code === 0) done()
      else failed(new Error(`${file} ${args[0]} ended with exit code ${code}:\n${output.trim()}`))
    })
  })
}

const say = (text) => console.error(`install-agents: ${text}`)

try {
  const names = process.argv.slice(2)
  for (const name of names.length > 0 ? names : ['claude', 'codex']) console.log(await install(name))
} catch (error) {
  say(error.message)
  process.exitCode = 1
}
