/** Markup that is as it should be; everything else is text. */
export type Html = { readonly html: string }

type Part = Html | string | number | readonly Html[]

/** Markup with holes: what goes in is text, unless it was made by this function itself. Attributes must be in double quotes. */
export function html(strings: TemplateStringsArray, ...parts: readonly Part[]): Html {
  return { html: strings.map((text, index) => text + markupOf(parts[index] ?? '')).join('') }
}

/** Each on a line of its own, for `<pre>`. Not written as a template: formatters take line ends in markup for blanks. */
export const onLines = (parts: readonly Html[]): Html => ({ html: parts.map((part) => `${part.html}\n`).join('') })

function markupOf(part: Part): string {
  if (typeof part === 'number') return String(part)
  if (typeof part === 'string') return escape(part)
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

/** Text as text: no markup, no control characters, nothing that turns the direction of what follows. */
export const escape = (text: string): string =>
  text.replaceAll(invisible, '\ufffd').replaceAll(/[&<>"']/g, (character) => entities[character] ?? '')
