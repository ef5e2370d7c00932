type Variables = Readonly<Record<string, string | undefined>>

const no = new Set(['', '0', 'false', 'no', 'off'])

/** Whether the user declared this machine a sandbox. Many write `yes`; Claude Code itself accepts only `1`. */
export const isSaidToBeSandbox = ({ IS_SANDBOX: said = '' }: Variables): boolean => !no.has(said.toLowerCase())
