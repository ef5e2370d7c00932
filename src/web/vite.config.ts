import { fileURLToPath } from 'node:url'
import tailwindcss from '@tailwindcss/vite'
import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'

const here = fileURLToPath(new URL('.', import.meta.url))

/** Builds files that a strict content security policy allows: nothing inline, no eval, names by content hash. */
export default defineConfig({
  root: here,
  base: '/',
  plugins: [react(), tailwindcss()],
  build: {
    outDir: fileURLToPath(new URL('../../dist/web', import.meta.url)),
    emptyOutDir: true,
    target: 'es2023',
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    chunkSizeWarningLimit: 500,
    reportCompressedSize: false,
    // Small modules that nearly every page needs, in one file: over HTTP/1.1 forty files block each other.
    rolldownOptions: {
      output: {
        codeSplitting: {
          groups: [
            {
              name: 'kit',
              test: /src[\\/]web[\\/](ui[\\/](?!markdown)|words[\\/]|data[\\/])|node_modules[\\/](lucide-react|@base-ui)[\\/]/,
            },
          ],
        },
      },
    },
  },
})
