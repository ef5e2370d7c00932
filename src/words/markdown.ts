import { toOneLine } from './text.ts'

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '@': '&#64;',
  '#': '&#35;',
  '://': '&#58;//',
}

/** Foreign text on one line: no markup, table, link, or mention of people or issues. */
export const escapeReportText = (text: string): string =>
  toOneLine(text).replaceAll(/:\/\/|[&<>@#\\`*_{}[\]|!~$]/g, (found) => entities[found] ?? `\\${found}`)
