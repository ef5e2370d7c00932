import { createKnownValues } from './encoded-secrets.ts'

/** A value that must not be shown, and the name shown instead. */
export type Secret = { readonly name: string; readonly value: string }

/** Removes secrets from a text. Idempotent. */
export type Redact = (text: string) => string

/** Shorter values occur in texts by chance. */
const shortestSecret = 8

/** Redacts known values, and everything shaped like a key. JSON and YAML stay valid. */
export function createRedactor(secrets: readonly Secret[] = []): Redact {
  const redactKnown = createKnownValues(
    new Map(secrets.filter(({ value }) => value.length >= shortestSecret).map(({ name, value }) => [value, name])),
  )
  return (text) => {
    const unknown = redactKnown(text)
    const keyless = unknown.includes(privateKeyMark)
      ? unknown.replaceAll(privateKey, '[redacted private key]')
      : unknown
    return redactSuspiciousLines(keyless.replaceAll(quotedPassword, describePassword), redactForms)
  }
}

/** Redacts every string in a value, at any depth; field names stay. Returns the same value if nothing changed. */
export function redactDeep<T>(value: T, redact: Redact): T {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a string stays a string and a list a list, so the type is the same
  return redactValue(value, redact) as T
}

function redactValue(value: unknown, redact: Redact): unknown {
  if (typeof value === 'string') return redact(value)
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) {
    const parts = value.map((part) => redactValue(part, redact))
    return parts.some((part, index) => part !== value[index]) ? parts : value
  }
  const entries = Object.entries(value)
  const changed: [string, unknown][] = []
  for (const [name, part] of entries) {
    const clean = redactValue(part, redact)
    if (clean !== part) changed.push([name, clean])
  }
  return changed.length === 0 ? value : Object.fromEntries([...entries, ...changed])
}

/** Returns the environment variables whose names mark them as secrets. */
export const findEnvSecrets = (env: Readonly<Record<string, string | undefined>>): Secret[] =>
  Object.entries(env).flatMap(([name, value = '']) => (isSecret(name, value) ? [{ name, value }] : []))

/** Returns the secrets of a `.env` file. There, a random-looking value is a secret under any name. */
export function parseDotenvSecrets(text: string): Secret[] {
  return text.split('\n').flatMap((line) => {
    const [, name = '', raw = ''] = /^\s*(?:export\s+)?([A-Za-z_]\w*)\s*=\s*(.*?)\s*$/.exec(line) ?? []
    const value = /^(["'])(.*)\1/.exec(raw)?.[2] ?? raw.replace(/\s+#.*$/, '')
    return isSecret(name, value) || looksRandom(value) ? [{ name, value }] : []
  })
}

const secretName =
  /(?:^|_)(?:API_?KEY|ACCESS_?KEY|PRIVATE_?KEY|SECRET_?KEY|KEY|TOKEN|SECRET|PASSWORD|PASSWD|PASS|PASSPHRASE|CREDENTIALS?|AUTH|COOKIE|DSN)(?:_|$|\d)|(?:API_?KEY|TOKEN|SECRET|PASSWORD)$/i
/** Paths, booleans, numbers: never secrets, and redacting them would garble every text. */
const plainValue = /^(?:[./~][^\s]*|true|false|yes|no|none|null|\d+|[a-z]+|https?:\/\/[^@\s]*)$/i

const isSecret = (name: string, value: string): boolean =>
  secretName.test(name) && value.length >= shortestSecret && !plainValue.test(value)

const looksRandom = (value: string): boolean =>
  /^[A-Za-z0-9+/_=.~-]{16,}$/.test(value) && /\d/.test(value) && /[A-Za-z]/.test(value) && !plainValue.test(value)

// Every repetition is bounded or cannot backtrack, and none starts inside another, so hostile text takes linear time. No pattern
// consumes a quote or a lone backslash, so JSON stays valid.
const space = String.raw`(?:\s|\\[nrt])`
const keyLabel = String.raw`[A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----`
const keyLine = String.raw`(?:Proc-Type|DEK-Info|Version|Comment):[^\n\\"]{0,100}|[A-Za-z0-9+/=]{16,}|[A-Za-z0-9+/=]{1,15}(?=${space}*-----END)`
const privateKeyMark = 'PRIVATE KEY'
const privateKey = new RegExp(
  `-----BEGIN ${keyLabel}(?:${space}*(?:${keyLine}))*(?:${space}*-----END ${keyLabel})?`,
  'g',
)

/** Keys that are recognizable by their prefix. All fit on one line. */
const forms: readonly (readonly [name: string, form: string])[] = [
  ['AWS key', '(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}(?![A-Za-z0-9])'],
  ['GitHub token', 'gh[pousr]_[A-Za-z0-9]{30,255}|github_pat_[A-Za-z0-9_]{22,255}'],
  ['GitLab token', 'gl(?:pat|dt|rt|ptt)-[A-Za-z0-9_-]{20,}'],
  ['Anthropic key', 'sk-ant-[A-Za-z0-9_-]{10,}'],
  ['API key', String.raw`sk-(?=[A-Za-z_-]{0,60}\d)[A-Za-z0-9_-]{20,}`],
  ['Stripe key', '[rsp]k_(?:live|test)_[A-Za-z0-9]{16,}|whsec_[A-Za-z0-9]{20,}'],
  ['Slack token', String.raw`xox[abeoprs]-[A-Za-z0-9-]{10,}|xapp-\d-[A-Za-z0-9-]{10,}`],
  ['Slack webhook', String.raw`hooks\.slack\.com\/services\/[A-Za-z0-9/]{20,}`],
  ['Google key', String.raw`AIza[A-Za-z0-9_-]{35}|ya29\.[A-Za-z0-9_-]{20,}|GOCSPX-[A-Za-z0-9_-]{20,}`],
  ['Azure secret', String.raw`[A-Za-z0-9_~.-]{3}\dQ~[A-Za-z0-9_~.-]{31,34}`],
  ['npm token', 'npm_[A-Za-z0-9]{36}'],
  ['PyPI token', 'pypi-[A-Za-z0-9_-]{50,}'],
  ['Hugging Face token', 'hf_[A-Za-z0-9]{30,}'],
  ['Docker token', 'dckr_pat_[A-Za-z0-9_-]{20,}'],
  ['DigitalOcean token', 'do[opr]_v1_[a-f0-9]{64}'],
  ['SendGrid key', String.raw`SG\.[A-Za-z0-9_-]{22}\.[A-Za-z0-9_-]{43}`],
  ['token of the attempt', String.raw`ralph_mcp_[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{20,}`],
  ['JWT', String.raw`eyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]*)?`],
]
/** Start of a word, also after an escaped line break inside a JSON string. */
const wordStart = String.raw`(?:(?<![A-Za-z0-9_-])|(?<=\\[nrt]))`
const anyForm = new RegExp(`${wordStart}(?:${forms.map(([, form]) => `(${form})`).join('|')})`, 'g')
const credential = /(Bearer|Basic) ([A-Za-z0-9._~+/=-]{20,})/gi
const urlPassword = /(:\/\/[^\s/:@"'\\<>]{0,100}:)[^\s/@"'\\<>]{1,200}@/g
const assignment =
  /((?:api_?key|access_?key|account_?key|token|secret|passw(?:or)?d|passphrase)(?:_[A-Za-z0-9_]{1,20})?(?:\\?["'])?\s{0,3}[=:]\s{0,3}(?:\\?["'])?)([A-Za-z0-9+/_.~=-]{20,})/gi

/** The signature of a shared access URL. */
const urlSignature = /([?&]sig=)[A-Za-z0-9%+/=_-]{30,}/g
/** In quotes a value is a password even if it is short; a longer one is matched by `assignment`. */
const quotedPassword =
  /((?:passw(?:or)?d|passphrase|pwd)(?:\\?["'])?\s{0,3}[=:]\s{0,3}\\?(["']))([^\s"'\\<>{}$`[\]]{6,40})(?=\\?\2)/gi

/** Words are labels and types; a password has a digit or a sign. */
const describePassword = (all: string, before: string, _quote: string, value: string): string =>
  /[A-Za-z]/.test(value) && /[\d!@#%^&*?+=~]/.test(value) ? `${before}[redacted password]` : all

/** Code that refers to a secret by name. */
const isSecretReference = (value: string): boolean =>
  !/\d/.test(value) || !/[A-Za-z]/.test(value) || /^(?:process|os|env|import|config|self|this)\./.test(value)

/**
 * Only lines with a long word or a URL can hold a secret, so only those go through all patterns. They are a few percent, and
 * finding them is ten times faster than matching all patterns everywhere.
 */
function redactSuspiciousLines(text: string, redactLine: Redact): string {
  let clean = ''
  let done = 0
  let word = findNextLongWord(text, 0)
  let url = findNextUrl(text, 0)
  while (word < text.length || url < text.length) {
    const at = word < url ? word : url
    const start = text.lastIndexOf('\n', at) + 1
    const end = text.indexOf('\n', at)
    clean += text.slice(done, start)
    done = end === -1 ? text.length : end
    clean += redactLine(text.slice(start, done))
    if (word < done) word = findNextLongWord(text, done)
    if (url < done) url = findNextUrl(text, done)
  }
  return done === 0 ? text : clean + text.slice(done)
}

function redactForms(line: string): string {
  const formless = formBeginning.test(line) ? line.replaceAll(anyForm, describeForm) : line
  return labelBeginning.test(formless) ? redactLabelled(formless) : formless
}

const describeForm = (_: string, ...groups: readonly unknown[]): string =>
  `[redacted ${forms[groups.findIndex(isString)]?.[0]}]`

/** Redacts values that follow a label such as `password=`. */
function redactLabelled(line: string): string {
  return line
    .replaceAll(credential, (all, scheme: string, value: string) =>
      /\d/.test(value) ? `${scheme} [redacted credential]` : all,
    )
    .replaceAll(urlPassword, '$1[redacted password]@')
    .replaceAll(urlSignature, '$1[redacted signature]')
    .replaceAll(assignment, (all, before: string, value: string) =>
      isSecretReference(value) ? all : `${before}[redacted secret]`,
    )
}

const isString = (group: unknown): boolean => typeof group === 'string'

/** Match wherever one of the forms, or one of the label patterns, could match. Two expressions are twice as fast as one. */
const formBeginning =
  /A(?:KIA|SIA|BIA|CCA)|gh[pousr]_|github_pat_|gl(?:pat|dt|rt|ptt)-|sk-|[rsp]k_(?:live|test)_|whsec_|xox|xapp-|hooks\.slack|AIza|ya29\.|GOCSPX-|\dQ~|npm_|pypi-|hf_|do[opr]_v1_|dckr_pat_|SG\.|ralph_mcp_|eyJ/
const labelBeginning =
  /bearer |basic |[?&]sig=|:\/\/[^\s/:@]{0,100}:|(?:key|token|secret|passw(?:or)?d|passphrase)[A-Za-z0-9_]{0,21}\\?["']?\s{0,3}[=:]/i

/** Index of the next URL, or a position past the end. */
function findNextUrl(text: string, from: number): number {
  const at = text.indexOf('://', from)
  return at === -1 ? text.length : at
}

const longWord = 20
/** Covers every UTF-16 code unit: reading past the end of a typed array is slow. */
const isWordCode = new Uint8Array(65_536)
for (let code = 0; code < 128; code++) isWordCode[code] = /[\w-]/.test(String.fromCodePoint(code)) ? 1 : 0

/**
 * Index of the next word character preceded by nineteen others, or a position past the end. Tests every twentieth character
 * first.
 */
function findNextLongWord(text: string, from: number): number {
  let end = from + longWord - 1
  while (end < text.length) {
    let at = end
    while (at > end - longWord && isWordCode[text.charCodeAt(at)] === 1) at--
    if (at === end - longWord) return end
    end = at + longWord
  }
  return text.length
}
