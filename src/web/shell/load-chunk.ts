const key = 'ralph.reloaded'
/** A part that is still missing so soon after the page was loaded anew is missing for good. */
const soonMs = 60_000

/**
 * A part of the page that is loaded when it is needed. A page that stayed open over an upgrade asks for parts that are gone:
 * it is loaded anew, but only once the backend answers, or what is on the screen would be lost for an error of the browser.
 */
export async function part<T>(load: () => Promise<T>): Promise<T> {
  try {
    return await load()
  } catch (error) {
    await backendAnswers()
    if (Date.now() - Number(sessionStorage.getItem(key)) < soonMs) throw error
    sessionStorage.setItem(key, String(Date.now()))
    location.reload()
    return new Promise(() => {})
  }
}

async function backendAnswers(): Promise<void> {
  for (let pause = 500; ; pause = Math.min(10_000, pause * 2)) {
    const answer = await fetch('/healthz', { cache: 'no-store' }).catch(() => undefined)
    if (answer?.ok === true) return
    await new Promise((resolve) => setTimeout(resolve, pause))
  }
}
