/** A place that a command sees; later ones cover earlier ones. All paths are absolute and free of links. */
export type RoomMount =
  | {
      readonly kind: 'overlay'
      /** Visible layers, the first on top. The command cannot change them. */
      readonly lower: readonly string[]
      readonly at: string
      /** Names below `at` that are not shown. */
      readonly without?: readonly string[]
    }
  | { readonly kind: 'bind' | 'ro-bind'; readonly from: string; readonly at: string }
  | { readonly kind: 'tmpfs'; readonly at: string }

export type RoomCommand = {
  readonly argv: readonly [string, ...string[]]
  readonly cwd: string
  readonly mounts: readonly RoomMount[]
  /** The whole environment. */
  readonly env: Readonly<Record<string, string>>
  readonly network: boolean
  readonly timeoutMs: number
  /** A fresh folder of this run: `tmp` in it is seen as /tmp, layers of overlays lie in it. The caller removes it. */
  readonly scratch: string
  readonly signal?: AbortSignal | undefined
}

export type CommandResult = {
  /** Null if it was killed. */
  readonly exitCode: number | null
  readonly output: string
  readonly durationMs: number
  readonly timedOut: boolean
  /** Killed because it printed too much. */
  readonly flooded?: true
  /** Set if the enclosure itself could not be made: the command has not run. */
  readonly failure?: string
}

/**
 * What the room needs of a cell. With `kind: 'namespaces'` every mount is honoured, nothing else can be written, no other
 * process is seen, and all processes of the command are dead when `run` resolves. With `kind: 'plain'` the
 * command runs as it is, and mounts only say what it may read and write where a cell is around it.
 */
export type Enclosure = {
  readonly kind: 'namespaces' | 'plain'
  /** Why there are no namespaces. */
  readonly reason?: string
  readonly run: (command: RoomCommand) => Promise<CommandResult>
}
