/** Trusted markup; everything else is escaped as text. */
export type HtmlMarkup = { readonly html: string }

type HtmlPart = HtmlMarkup | string | number | readonly HtmlMarkup[]

/**
 * Builds markup from a template: every value is escaped unless it is markup made by this function. Attributes need
 * double quotes.
 */
export function html(strings: TemplateStringsArray, ...parts: readonly HtmlPart[]): HtmlMarkup {
  return { html: strings.map((text, index) => text + toMarkup(parts[index] ?? '')).join('') }
}

/** Joins lines for `<pre>`. Not a template, because formatters turn line ends in markup into blanks. */
export const joinMarkupLines = (parts: readonly HtmlMarkup[]): HtmlMarkup => ({
  html: parts.map((part) => `${part.html}\n`).join(''),
})

function toMarkup(part: HtmlPart): string {
  if (typeof part === 'number') return String(part)
  if (typeof part === 'string') return escapeHtml(part)
  return 'html' in part ? part.html : part.map((one) => one.html).join('')
}

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

// oxlint-disable no-control-regex -- they have no business on a page
const invisible = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069\ufffe\uffff]/g
// oxlint-enable no-control-regex

/** Escapes text: no markup, no control characters, no bidirectional overrides. */
export const escapeHtml = (text: string): string =>
  text.replaceAll(invisible, '\ufffd').replaceAll(/[&<>"']/g, (character) => entities[character] ?? '')
