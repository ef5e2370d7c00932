type SandboxVariables = Readonly<Record<string, string | undefined>>

const falseValues = new Set(['', '0', 'false', 'no', 'off'])

/** Whether the user declared this machine a sandbox. Many write `yes`; Claude Code itself accepts only `1`. */
export const isDeclaredSandbox = ({ IS_SANDBOX: value = '' }: SandboxVariables): boolean =>
  !falseValues.has(value.toLowerCase())
