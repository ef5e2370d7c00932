type Variables = Readonly<Record<string, string | undefined>>

const no = new Set(['', '0', 'false', 'no', 'off'])

/** Whether somebody has said that this machine is a sandbox. Many write `yes`; Claude Code itself believes only `1`. */
export const isSaidToBeSandbox = ({ IS_SANDBOX: said = '' }: Variables): boolean => !no.has(said.toLowerCase())
