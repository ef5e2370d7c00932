import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { redactDeep, createRedactor, findEnvSecrets, parseDotenvSecrets } from './redact.ts'

const redact = createRedactor()
const random = (length: number): string => 'aB3dE5gH7jK9mN1pQ2rS4tU6vW8xY0zA'.repeat(9).slice(0, length)

describe('a text with a key in it', () => {
  const keys: Readonly<Record<string, string>> = {
    'an AWS key': 'AKIAIOSFODNN7EXAMPLE',
    'a GitHub token': `ghp_${random(36)}`,
    'a fine-grained GitHub token': `github_pat_${random(60)}`,
    'a GitLab token': `glpat-${random(20)}`,
    'an Anthropic key': `sk-ant-api03-${random(80)}-AA`,
    'an OpenAI key': `sk-proj-${random(48)}`,
    'an OpenRouter key': `sk-or-v1-${random(64)}`,
    'a Stripe key': `sk_live_${random(24)}`,
    'a Slack token': `xoxb-1234567890-${random(24)}`,
    'a Slack webhook': `https://hooks.slack.com/services/T00000000/B00000000/${random(24)}`,
    'a Google key': `AIza${random(35)}`,
    'a secret of an Azure application': `abc8Q~${random(34)}`,
    'an npm token': `npm_${random(36)}`,
    'a Hugging Face token': `hf_${random(34)}`,
    'a SendGrid key': `SG.${random(22)}.${random(43)}`,
    'a token of an attempt': `ralph_mcp_${random(30)}.${random(43)}`,
    'a JWT': `eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.${random(43)}`,
    'a private key': `-----BEGIN RSA PRIVATE KEY-----\n${random(64)}\n${random(64)}\nab12==\n-----END RSA PRIVATE KEY-----`,
    'a private key that was cut off': `-----BEGIN OPENSSH PRIVATE KEY-----\n${random(70)}\n${random(70)}`,
    'a header': `Authorization: Bearer ${random(40)}`,
    'a password in a URL': 'postgres://app:hunter2@db.internal:5432/app',
    'a variable that says so': `DB_PASSWORD=${random(20)}`,
    'a field that says so': `{"api_key": "${random(24)}"}`,
    'an Azure storage key': `DefaultEndpointsProtocol=https;AccountName=app;AccountKey=${random(43)}+/${random(41)}==;EndpointSuffix=x`,
    'an Azure storage key alone': `AccountKey=${random(86)}==`,
    'a shared access signature': `https://app.blob.example.com/c?sv=2024&sig=${random(40)}%3D`,
  }
  it.each(Object.entries(keys))('loses %s and nothing else', (_, key) => {
    const secret = /hunter2|B00000000.*/.exec(key)?.[0] ?? random(12)
    const clean = redact(`before ${key} after`)

    expect(clean).toMatch(/^before .*\[redacted [^\]]+\].* after$/s)
    expect(clean).not.toContain(key.includes(secret) ? secret : key)
    expect(redact(clean)).toBe(clean)
  })

  it('keeps the text around the secret', () => {
    expect(redact('git clone https://me:hunter2@example.com/x.git')).toBe(
      'git clone https://me:[redacted password]@example.com/x.git',
    )
    expect(redact(`-H "Authorization: Bearer ${random(30)}"`)).toBe('-H "Authorization: Bearer [redacted credential]"')
  })
})

it('leaves ordinary text alone', () => {
  const texts = [
    'const token = process.env.GITHUB_TOKEN2_OF_THE_BOT ?? readToken()',
    'usage: {"input_tokens": 1234567890123456, "cache_read_input_tokens": 80000}',
    'a task-force-with-a-very-long-name-of-2026, 50902a5a-e85e-47ad-8b22-501917ebcf6b, commit 3321a8f0c4b5d6e7f8a9b0c1d2e3f4a5b6c7d8e9',
    'see https://example.com:8080/a/b?c=d and ssh://git@example.com/x.git',
    'tokenizer: "gpt2-tokenizer-version-2", secretName: my-secret-name-1-of-many',
    'look for -----BEGIN CERTIFICATE----- and the word PRIVATE KEY',
  ]

  expect(texts.map((text) => redact(text))).toEqual(texts)
})

it.each([
  [`password = 'hunter2!'`, `password = '[redacted password]'`],
  ['DB_PASSWORD: "pa55word"', 'DB_PASSWORD: "[redacted password]"'],
  [String.raw`{"text":"\"passwd\": \"abc123\""}`, String.raw`{"text":"\"passwd\": \"[redacted password]\""}`],
  [`pwd="x1y2z3" user='me'`, `pwd="[redacted password]" user='me'`],
])('finds a short password in quotes: %s', (text, clean) => {
  expect([redact(text), redact(redact(text))]).toEqual([clean, clean])
})

it.each([
  `password: 'string'`,
  `passwordLabel: 'Password:', password: "required"`,
  `<input type="password" name="p4ss">`,
  'const password = `${x}1`',
  `password = "$DB_PASSWORD2"`,
  `password: '<your-password-1>'`,
])('leaves code about passwords alone: %s', (text) => {
  expect(redact(text)).toBe(text)
})

it('finds a key after an escaped line break', () => {
  const report = JSON.stringify({ summary: `the key:\nghp_${random(36)}\tand\nsk-ant-${random(30)}` })

  expect(JSON.parse(redact(report))).toEqual({
    summary: 'the key:\n[redacted GitHub token]\tand\n[redacted Anthropic key]',
  })
})

describe('known values', () => {
  const withValue = createRedactor([{ name: 'APP_PASSWORD', value: 'p"a\\ss wörd' }])

  it('are replaced verbatim, in JSON and in a URL', () => {
    const value = 'p"a\\ss wörd'
    const shown = '[redacted APP_PASSWORD]'

    expect(withValue(`it is ${value}.`)).toBe(`it is ${shown}.`)
    expect(JSON.parse(withValue(JSON.stringify({ value })))).toEqual({ value: shown })
    expect(withValue(`https://x/?p=${encodeURIComponent(value)}`)).toBe(`https://x/?p=${shown}`)
  })

  it('are replaced completely if one is a prefix of another', () => {
    const both = createRedactor([
      { name: 'SHORT', value: 'abcdefgh' },
      { name: 'LONG', value: 'abcdefgh-ijklmnop' },
    ])

    expect(both('abcdefgh-ijklmnop abcdefgh')).toBe('[redacted LONG] [redacted SHORT]')
  })

  const values = {
    short: 'hunter2!',
    long: 'correct-horse-battery-staple-9',
    token: `x${random(45)}`,
    unicode: 'pässwörd-mit-ümlauten-1',
  }
  const encodings: Readonly<Record<string, (value: string) => string>> = {
    'in base64': (value) => Buffer.from(value).toString('base64'),
    'in base64 for URLs': (value) => Buffer.from(value).toString('base64url'),
    'in base64 after a name': (value) => Buffer.from(`user:${value}`).toString('base64'),
    'in base64 after one letter': (value) => Buffer.from(`u${value}\n`).toString('base64'),
    'in base64 after two letters': (value) => Buffer.from(`us${value}?more`).toString('base64'),
    'in hexadecimal': (value) => Buffer.from(value).toString('hex'),
    'in capital hexadecimal': (value) => Buffer.from(value).toString('hex').toUpperCase(),
    'in a dump': (value) =>
      Buffer.from(value)
        .toString('hex')
        .replaceAll(/..(?=.)/g, '$& '),
    'in a dump of words': (value) =>
      Buffer.from(value)
        .toString('hex')
        .replaceAll(/.{4}(?=.)/g, '$& '),
    'in hexadecimal with colons': (value) =>
      Buffer.from(value)
        .toString('hex')
        .replaceAll(/..(?=.)/g, '$&:'),
    'in a string of C': (value) =>
      Buffer.from(value)
        .toString('hex')
        .replaceAll(/../g, String.raw`\x$&`),
    'in a URL, every byte': (value) => Buffer.from(value).toString('hex').toUpperCase().replaceAll(/../g, '%$&'),
    'in JSON of PHP': (value) =>
      JSON.stringify(value)
        .slice(1, -1)
        .replaceAll('/', String.raw`\/`),
    'in a URL': (value) => encodeURIComponent(value),
    'in a URL with small letters': (value) =>
      encodeURIComponent(value).replaceAll(/%../g, (code) => code.toLowerCase()),
    'over two lines': (value) => `${value.slice(0, value.length / 2)}\n    ${value.slice(value.length / 2)}`,
    'over two lines of Windows': (value) => `${value.slice(0, value.length / 2)}\r\n${value.slice(value.length / 2)}`,
    'over two lines in a string': (value) => `${value.slice(0, value.length / 2)}\\n${value.slice(value.length / 2)}`,
    'in base64 over lines': (value) => Buffer.from(value).toString('base64').replaceAll(/.{10}/g, '$&\n'),
  }
  it.each(Object.keys(encodings))('are replaced %s', (encoding) => {
    for (const [name, value] of Object.entries(values)) {
      const known = createRedactor([{ name, value }])
      const encoded = encodings[encoding]?.(value) ?? ''
      const clean = known(`before ${encoded} after`)
      expect(clean).toMatch(new RegExp(`^before .{0,12}\\[redacted ${name}\\].{0,12}\\s? after$`, 's'))
      expect(known(clean)).toBe(clean)
    }
  })

  it('are replaced by their names, whatever characters these have', () => {
    expect(createRedactor([{ name: '$&', value: 'hunter2hunter2' }])('hunter2hunter2')).toBe('[redacted $&]')
  })

  it('are left alone if they are too short', () => {
    expect(createRedactor([{ name: 'PIN', value: '1234567' }])('1234567')).toBe('1234567')
  })
})

it('redacts strings at any depth and keeps the rest', () => {
  const key = 'AKIAIOSFODNN7EXAMPLE'
  const value = { text: key, list: [1, null, { deep: `x ${key}` }], yes: true, none: undefined }

  expect(redactDeep(value, redact)).toEqual({
    text: '[redacted AWS key]',
    list: [1, null, { deep: 'x [redacted AWS key]' }],
    yes: true,
    none: undefined,
  })
})

it('recognizes secret variables by their names', () => {
  const env = {
    ANTHROPIC_API_KEY: 'sk-whatever-it-is',
    DB_PASSWORD: 'hunter2hunter2',
    GITHUB_TOKEN: 'gh0123456789',
    MONKEY: 'chimpanzee-2',
    SSH_AUTH_SOCK: '/run/agent.sock',
    TOKENIZERS_PARALLELISM: 'false-positive-1',
    KEYBOARD: 'qwertz-layout-2',
    NPM_TOKEN: 'short',
    PATH: '/usr/bin:/bin',
    EMPTY_SECRET: undefined,
  }

  expect(findEnvSecrets(env).map(({ name }) => name)).toEqual(['ANTHROPIC_API_KEY', 'DB_PASSWORD', 'GITHUB_TOKEN'])
})

it('recognizes the secrets of a .env file by name and by random-looking values', () => {
  const text = `# settings
PORT=8080
export STRIPE_SECRET='whatever it is'
SESSION = "a1b2c3d4e5f6a7b8c9d0"
LOG_LEVEL=debug
URL=https://example.com/some/page/2
PASSWORD=hunter2hunter2 # not this
`

  expect(parseDotenvSecrets(text)).toEqual([
    { name: 'STRIPE_SECRET', value: 'whatever it is' },
    { name: 'SESSION', value: 'a1b2c3d4e5f6a7b8c9d0' },
    { name: 'PASSWORD', value: 'hunter2hunter2' },
  ])
})

describe('for any text', () => {
  const pieces = fc.constantFrom(
    ...'. : @ \n " \\ \\n a1 sk- ghp_ eyJ :// token= AKIA hunter2-hunter2'.split(' '),
    'Bearer ',
    'password: ',
    ' ',
    random(20),
    '-----BEGIN PRIVATE KEY-----',
    '-----END PRIVATE KEY-----',
  )
  const texts = fc.array(pieces, { maxLength: 40 }).map((parts) => parts.join(''))
  const known = createRedactor([{ name: 'X', value: 'hunter2-hunter2' }])

  it('redacting twice is redacting once', () => {
    fc.assert(
      fc.property(texts, (text) => {
        expect(known(known(text))).toBe(known(text))
      }),
      { numRuns: 3000 },
    )
  })

  it('JSON stays JSON', () => {
    const values = fc.array(fc.record({ text: texts, more: fc.array(texts, { maxLength: 3 }) }), { maxLength: 4 })
    fc.assert(
      fc.property(values, (value) => {
        expect(JSON.parse(known(JSON.stringify(value)))).toHaveLength(value.length)
      }),
      { numRuns: 2000 },
    )
  })

  it('no known value is left', () => {
    fc.assert(
      fc.property(texts, (text) => {
        expect(known(text)).not.toContain('hunter2-hunter2')
      }),
      { numRuns: 2000 },
    )
  })
})
