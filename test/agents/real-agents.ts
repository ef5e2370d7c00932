import type { Refusal } from '../support/stub-model/turn.ts'

/** A real agent program, and how to point it at a model server on this machine. */
export type RealAgent = {
  /** As in `agent:` of SPRINT.yaml. */
  readonly name: string
  /** The package that `scripts/install-agents.mjs` installs for it. */
  readonly installs: string
  readonly env?: (url: string) => Readonly<Record<string, string>>
  /** Variables for `env.pass`. */
  readonly pass?: readonly string[]
  /** Files in the home folder. */
  readonly home?: (url: string) => Readonly<Record<string, string>>
}

export const claude: RealAgent = {
  name: 'claude',
  installs: 'claude',
  env: (url) => ({ ANTHROPIC_BASE_URL: url, ANTHROPIC_API_KEY: 'test-key' }),
}

/** For a user with a subscription: only then does a limit have an end. */
export const claudeBySubscription: RealAgent = {
  ...claude,
  env: (url) => ({ ANTHROPIC_BASE_URL: url, CLAUDE_CODE_OAUTH_TOKEN: 'test-token' }),
}

export const claudeLimit = (resetsAt: number): Refusal => ({
  status: 429,
  message: 'This request would exceed your rate limit',
  headers: {
    'anthropic-ratelimit-unified-status': 'rejected',
    'anthropic-ratelimit-unified-reset': String(resetsAt / 1000),
    'anthropic-ratelimit-unified-representative-claim': 'five_hour',
  },
})

export const codex: RealAgent = {
  name: 'codex',
  installs: 'codex',
  env: () => ({ STUB_KEY: 'test-key' }),
  pass: ['STUB_KEY'],
  home: (url) => ({
    '.codex/config.toml': `model = "gpt-5.5"
model_provider = "stub"
[model_providers.stub]
name = "stub"
base_url = "${url}/v1"
wire_api = "responses"
env_key = "STUB_KEY"
stream_max_retries = 2
`,
  }),
}

export const codexLimit = (resetsAt: number): Refusal => ({
  status: 429,
  body: {
    error: {
      type: 'usage_limit_reached',
      message: 'The usage limit has been reached',
      plan_type: 'pro',
      resets_at: resetsAt / 1000,
    },
  },
})

export const gemini: RealAgent = {
  name: 'gemini',
  installs: 'gemini',
  env: (url) => ({ GOOGLE_GEMINI_BASE_URL: url, GEMINI_API_KEY: 'test-key' }),
  home: () => ({
    '.gemini/settings.json': JSON.stringify({
      // Otherwise the base URL makes it choose a login method that needs a user.
      security: { auth: { selectedType: 'gemini-api-key' } },
      privacy: { usageStatisticsEnabled: false },
      general: { enableAutoUpdate: false },
    }),
  }),
}

export const geminiLimit: Refusal = {
  status: 429,
  body: {
    error: {
      code: 429,
      message: 'You exceeded your current quota',
      status: 'RESOURCE_EXHAUSTED',
      details: [
        {
          '@type': 'type.googleapis.com/google.rpc.QuotaFailure',
          violations: [{ quotaId: 'GenerateRequestsPerDayPerProjectPerModel-FreeTier', quotaValue: '50' }],
        },
      ],
    },
  },
}

export const opencode: RealAgent = {
  name: 'opencode',
  installs: 'opencode',
  env: () => ({ OPENCODE_DISABLE_MODELS_FETCH: '1', OPENCODE_DISABLE_DEFAULT_PLUGINS: '1' }),
  pass: ['OPENCODE_DISABLE_*'],
  home: (url) => ({
    '.config/opencode/opencode.json': JSON.stringify({
      model: 'stub/stub-model',
      small_model: 'stub/stub-model',
      provider: {
        stub: {
          npm: '@ai-sdk/openai-compatible',
          options: { baseURL: `${url}/v1`, apiKey: 'test-key' },
          models: { 'stub-model': { limit: { context: 200_000, output: 32_000 } } },
        },
      },
    }),
  }),
}

export const acpClaude: RealAgent = { ...claude, name: 'acp:claude', installs: 'claude-agent-acp' }
export const acpCodex: RealAgent = { ...codex, name: 'acp:codex', installs: 'codex-acp' }
export const acpGemini: RealAgent = { ...gemini, name: 'acp:gemini' }
export const acpOpencode: RealAgent = { ...opencode, name: 'acp:opencode' }
