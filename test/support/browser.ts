import chromium from '@sparticuz/chromium'
import { type Browser, chromium as playwright, type LaunchOptions, type Page } from 'playwright-core'

/** A real Chromium from npm; it needs no system package and no graphics card. */
export async function launchBrowser({
  ignoreDefaultArgs,
}: Pick<LaunchOptions, 'ignoreDefaultArgs'> = {}): Promise<Browser> {
  chromium.setGraphicsMode = false
  const unwanted = [
    '--single-process',
    '--headless',
    '--disable-web-security',
    '--disable-site-isolation-trials',
    '--allow-running-insecure-content',
  ]
  return playwright.launch({
    executablePath: await chromium.executablePath(),
    args: chromium.args.filter((argument) => !unwanted.some((prefix) => argument.startsWith(prefix))),
    headless: true,
    ...(ignoreDefaultArgs !== undefined && { ignoreDefaultArgs }),
  })
}

export type Complaints = { readonly lines: string[] }

/** Records everything that must not happen on a page: console errors, exceptions, policy violations. */
export async function watchPage(page: Page): Promise<Complaints> {
  const lines: string[] = []
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning')
      lines.push(`${message.type()}: ${message.text()} ${message.location().url}`)
  })
  page.on('pageerror', (error) => lines.push(`exception: ${error.message}`))
  await page.exposeFunction('ralphViolation', (text: string) => lines.push(`policy: ${text}`))
  await page.addInitScript(
    `document.addEventListener('securitypolicyviolation', (e) => window.ralphViolation(e.violatedDirective + ' ' + e.blockedURI + ' ' + e.sourceFile + ':' + e.lineNumber))`,
  )
  return { lines }
}
