import { backoffMs } from '../../contract/backoff.ts'

const key = 'ralph.reloaded'
/** A chunk that is still missing this soon after a reload is missing for good. */
const reloadGraceMs = 60_000
const healthBackoff = { firstMs: 500, maxMs: 10_000 }

/**
 * Loads a part of the page on demand. A page that stayed open during an upgrade requests chunks that no longer exist
 * and has to reload, but only once the backend responds; otherwise the browser's error page would replace the content.
 */
export async function loadChunk<T>(load: () => Promise<T>): Promise<T> {
  try {
    return await load()
  } catch (error) {
    await isBackendUp()
    if (Date.now() - Number(sessionStorage.getItem(key)) < reloadGraceMs) throw error
    sessionStorage.setItem(key, String(Date.now()))
    location.reload()
    return new Promise(() => {})
  }
}

async function isBackendUp(): Promise<void> {
  for (let failures = 1; ; failures++) {
    const answer = await fetch('/healthz', { cache: 'no-store' }).catch(() => undefined)
    if (answer?.ok === true) return
    await new Promise((resolve) => setTimeout(resolve, backoffMs(healthBackoff, failures, Math.random())))
  }
}
