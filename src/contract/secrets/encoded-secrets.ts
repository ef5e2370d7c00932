/** A known value in one of the forms in which it appears in texts. */
type SecretForm = { readonly text: string; readonly name: string; pattern?: RegExp }

/** Replaces known values. */
export type KnownValues = (text: string) => string

/**
 * Replaces values as they are, in JSON, in URLs, in base64 and in hexadecimal, also if a line break splits them. A text
 * without a value is scanned once, whatever the number of values, and most of its characters are skipped.
 */
export function createKnownValues(secrets: ReadonlyMap<string, string>): KnownValues {
  const forms = listForms(secrets)
  if (forms.length === 0) return (text) => text
  const findForms = createFormSearch(forms)
  return (text) => {
    // Longest first, because one value may contain another.
    const found = findForms(text).toSorted((a, b) => b.text.length - a.text.length)
    return found.reduce((clean, form) => {
      form.pattern ??= matchBroken(form.text)
      return clean.replaceAll(form.pattern, `[redacted ${form.name}]`.replaceAll('$', '$$$$'))
    }, text)
  }
}

function listForms(secrets: ReadonlyMap<string, string>): SecretForm[] {
  const names = new Map<string, string>()
  for (const [value, name] of secrets) {
    for (const text of encodeValue(value)) if (!names.has(text)) names.set(text, name)
  }
  return [...names].map(([text, name]) => ({ text, name }))
}

function encodeValue(value: string): string[] {
  const json = JSON.stringify(value).slice(1, -1)
  const url = encodeForUrl(value)
  // A lone surrogate has no bytes.
  if (url === undefined) return [value, json]
  const bytes = readBytes(url)
  const hex = bytes.map((byte) => byte.toString(16).padStart(2, '0')).join('')
  const base64 = [0, 1, 2].flatMap((offset) => encodeBase64(bytes, offset))
  return [
    value,
    json,
    // As PHP writes JSON.
    json.replaceAll('/', String.raw`\/`),
    url,
    lowerEscapes(url),
    url.replaceAll('%20', '+'),
    ...[hex, hex.toUpperCase()].flatMap(separateBytes),
    ...base64,
    ...base64.map((text) => text.replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')),
  ]
}

/** Hexadecimal as dumps, certificates, strings of C and URLs have it. */
function separateBytes(hex: string): string[] {
  const pairs = hex.match(/../g) ?? []
  const words = hex.match(/.{1,4}/g) ?? []
  const escaped = ['%', String.raw`\x`].map((mark) => pairs.map((pair) => `${mark}${pair}`).join(''))
  return [hex, pairs.join(' '), pairs.join(':'), words.join(' '), ...escaped]
}

const lowerEscapes = (url: string): string => url.replaceAll(/%[\dA-F]{2}/g, (escape) => escape.toLowerCase())

function encodeForUrl(value: string): string | undefined {
  try {
    return encodeURIComponent(value)
  } catch {
    return undefined
  }
}

/** The UTF-8 bytes of a text, from its encoding for URLs. */
function readBytes(url: string): number[] {
  const parts = url.match(/%[\dA-F]{2}|[^%]/g) ?? []
  return parts.map((part) => (part.length === 3 ? Number.parseInt(part.slice(1), 16) : part.charCodeAt(0)))
}

const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'

/** How many characters at the start of a base64 text also depend on 0, 1 or 2 preceding bytes. */
const sharedCharacters = [0, 2, 3]

/**
 * The characters of a base64 text that only these bytes determine, if `offset` other bytes precede them in their group of
 * three. At the start of a group also the whole text, with its padding.
 */
function encodeBase64(bytes: readonly number[], offset: number): string[] {
  const bits = [...Array.from({ length: offset }, () => 0), ...bytes]
    .map((byte) => byte.toString(2).padStart(8, '0'))
    .join('')
  const sextets = bits.match(/.{1,6}/g) ?? []
  const text = sextets.map((sextet) => alphabet[Number.parseInt(sextet.padEnd(6, '0'), 2)] ?? '').join('')
  const own = text.slice(sharedCharacters[offset], (bits.length - (bits.length % 6)) / 6)
  return offset === 0 ? [own, text.padEnd(text.length + ((4 - (text.length % 4)) % 4), '=')] : [own]
}

/** A real line break or an escaped one, and the indentation after it. */
const lineBreak = String.raw`(?:(?:\r?\n|(?:\\r)?\\n)[ \t]*)?`

/** Matches the text, also if line breaks split it. An escape of the text itself stays whole. */
function matchBroken(text: string): RegExp {
  const parts = text.match(/\\u[\dA-Fa-f]{4}|\\.|[\uD800-\uDBFF][\uDC00-\uDFFF]|./gs) ?? []
  return new RegExp(parts.map((part) => part.replaceAll(/[$()*+./?[\\\]^{|}-]/g, String.raw`\$&`)).join(lineBreak), 'g')
}

const shortestAnchor = 4
const longestAnchor = 8

/**
 * Finds the forms of which a text contains the beginning or the end, so that a break in the middle hides neither. The
 * search is Wu and Manber's: it looks at two characters, and skips as many as no anchor allows.
 */
function createFormSearch(forms: readonly SecretForm[]): (text: string) => SecretForm[] {
  const length = chooseAnchorLength(forms)
  const anchors = new Map<string, SecretForm[]>()
  const skips = new Uint8Array(65_536).fill(length - 1)
  for (const form of forms) {
    for (const anchor of [form.text.slice(0, length), form.text.slice(-length)]) {
      anchors.set(anchor, [...(anchors.get(anchor) ?? []), form])
      for (let at = 1; at < length; at++) {
        const pair = hashPair(anchor, at)
        const skip = length - 1 - at
        if ((skips[pair] ?? 0) > skip) skips[pair] = skip
      }
    }
  }
  return (text) => {
    const found = new Set<SecretForm>()
    let at = length - 1
    while (at < text.length) {
      const skip = skips[hashPair(text, at)] ?? 0
      if (skip > 0) at += skip
      else {
        for (const form of anchors.get(text.slice(at - length + 1, at + 1)) ?? []) found.add(form)
        at++
      }
    }
    return [...found]
  }
}

/** Half of the shortest form, so that one break leaves an anchor whole. */
function chooseAnchorLength(forms: readonly SecretForm[]): number {
  const fits = (length: number) => forms.every(({ text }) => text.length >= 2 * length)
  let length = longestAnchor
  while (length > shortestAnchor && !fits(length)) length--
  return length
}

const hashPair = (text: string, at: number): number =>
  ((text.charCodeAt(at - 1) & 0xff) << 8) | (text.charCodeAt(at) & 0xff)
