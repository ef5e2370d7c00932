import { z } from 'zod'
import { fileObject, nonEmptyText } from './file-object.ts'
import { Duration } from './time.ts'

const roomFields = {
  copy: z.array(nonEmptyText).optional().describe('Ignored files that the room needs, such as .env.test'),
  install: nonEmptyText.optional().describe('Command that installs packages; detected from the lockfile if not given'),
  network: z.boolean().optional().describe('Whether checks may use the network; default false'),
  services: z
    .array(nonEmptyText)
    .optional()
    .describe('Services on this machine that the checks need; opens the network'),
}
/** Where the checks of a claim run. */
export const CheckRoom = z.union([z.enum(['clean', 'off']), fileObject(roomFields)])
export type CheckRoom = z.output<typeof CheckRoom>

/** Fields that every kind of check has. */
const checkFields = {
  name: nonEmptyText.optional().describe('Display name of the check; default: the command'),
  timeout: Duration.default(600_000).describe('Ralph ends the check and its process tree after this time'),
  eachIteration: z.boolean().default(false).describe('Also run it after every iteration, not only after a claim'),
  protect: z
    .boolean()
    .default(false)
    .describe('Deprecated: what defines a check is frozen anyway. Restores those files before the check runs'),
  report: nonEmptyText
    .optional()
    .describe('File that the check writes with its tests by name: JUnit XML, CTRF or TAP, relative to the project'),
  install: nonEmptyText.optional().describe('Overrides the `install` of the room for this check'),
  room: CheckRoom.optional().describe('Overrides the `room` of the sprint for this check'),
  heldOut: nonEmptyText
    .optional()
    .describe('Folder that only this check sees: a path, or a name below `checks` in the folder of Ralph'),
  nonce: z
    .boolean()
    .optional()
    .describe('The check gets a random word on its standard input and must print it: code that exits with 0 cannot'),
}

/** A check as Ralph runs and stores it. Every kind becomes a command. */
export const Check = fileObject({
  run: nonEmptyText.describe('Shell command that Ralph runs in the project; exit 0 means passed'),
  ...checkFields,
})
export type Check = z.output<typeof Check>

type RoomSettings = { readonly room?: CheckRoom | undefined; readonly doneWhen?: readonly Check[] | undefined }

const listRooms = ({ room, doneWhen = [] }: RoomSettings) =>
  [room, ...doneWhen.map((check) => check.room)].flatMap((each) => (typeof each === 'object' ? [each] : []))

/** The commands that install packages for checks. */
export const listInstalls = (settings: RoomSettings): string[] => [
  ...listRooms(settings).flatMap(({ install }) => install ?? []),
  ...(settings.doneWhen ?? []).flatMap(({ install }) => install ?? []),
]

/** What lets checks see or reach more of the machine than the clean room does by itself. */
export function findRoomWidening(settings: RoomSettings): 'room: network' | 'install' | 'held-out' | undefined {
  const isOpen = listRooms(settings).some(({ network, services = [] }) => network === true || services.length > 0)
  if (isOpen) return 'room: network'
  // It runs with the network, and is a command of its author's.
  if (listInstalls(settings).length > 0) return 'install'
  // A name is a folder below Ralph's own; a path could be any folder of the machine.
  return settings.doneWhen?.some(({ heldOut = '' }) => /[/\\]|^\.\.?$/.test(heldOut)) ? 'held-out' : undefined
}

/**
 * A kind of check: what users write in `done-when`, decoded into the command that decides it. Everything after the compiler knows
 * commands only, so a kind works in the clean room, in the fleet and on the page without a change there.
 */
export type CheckKind = z.ZodType<Check>

type KindOptions<F extends z.ZodRawShape> = {
  /** The fields of this kind, besides those that every check has. */
  readonly fields: F
  /** The command, and the name to show if the user gives none. Put what users wrote through `quoteShellWord`. */
  readonly toCommand: (entry: z.output<z.ZodObject<F>>) => Pick<Check, 'run'> & { readonly name?: string }
}

export function defineCheckKind<const F extends z.ZodRawShape>({ fields, toCommand }: KindOptions<F>): CheckKind {
  const entry: z.ZodType<object> = fileObject({ ...fields, ...checkFields })
  const decode = (written: object): Check => {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the schema above is built from these fields
    const command = toCommand(written as z.output<z.ZodObject<F>>)
    const common = Object.fromEntries(Object.entries(written).filter(([name]) => Object.hasOwn(checkFields, name)))
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the common fields, which the schema above has checked
    return { ...command, ...(common as Omit<Check, 'run'>) }
  }
  return z.codec(entry, z.custom<Check>(), { decode, encode: (check) => check })
}
