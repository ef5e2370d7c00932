import { extname, join, normalize } from 'node:path'
import { isFile, readBytes } from '../../platform/files/files.ts'

const contentTypes: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.woff2': 'font/woff2',
  '.json': 'application/json',
  '.webmanifest': 'application/manifest+json',
}

/**
 * Serves the files of the page. Files under `assets/` have a hash in their name and never change; every path that is
 * not a file is a route of the page.
 */
export function createPageFiles(folder: string): (path: string) => Promise<Response | undefined> {
  return async (path) => {
    const name = normalize(decodePath(path))
    if (name.includes('\0') || name.split('/').includes('..')) return undefined
    const file = join(folder, name)
    if (name !== '/' && isFile(file)) return fileResponse(file, name.startsWith('/assets/'))
    if (extname(name) !== '') return undefined
    const start = join(folder, 'index.html')
    return isFile(start) ? fileResponse(start, false) : undefined
  }
}

async function fileResponse(file: string, forEver: boolean): Promise<Response> {
  const headers = {
    'content-type': contentTypes[extname(file)] ?? 'application/octet-stream',
    'cache-control': forEver ? 'public, max-age=31536000, immutable' : 'no-cache',
  }
  return new Response(new Uint8Array(await readBytes(file)), { headers })
}

function decodePath(path: string): string {
  try {
    return decodeURIComponent(path)
  } catch {
    return '/..'
  }
}
