// Puts each program and what it needs into a few files: loading hundreds of small ones would take most of its start-up time.
// What tsc wrote stays the library; the programs that users start are these.
import { rolldown } from 'rolldown'

const programs = {
  ralph: 'dist/cli/main.js',
  'scripted-agent': 'dist/scripted-agent/main.js',
  'acp-bridge': 'dist/acp-bridge/main.js',
}

const bundle = await rolldown({
  input: programs,
  platform: 'node',
  // Native code cannot be put into a bundle.
  external: [/^node:/, 'fs-native-extensions'],
  logLevel: 'warn',
})
await bundle.write({
  dir: 'dist/bin',
  format: 'esm',
  cleanDir: true,
  entryFileNames: '[name].js',
  chunkFileNames: 'chunks/[name]-[hash].js',
})
await bundle.close()
