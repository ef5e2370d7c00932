import { createHash } from 'node:crypto'
import { z } from 'zod'
import { errorMessage, RalphError } from '../../contract/errors.ts'
import { readGzipLines } from '../../platform/files/gzip-lines.ts'

/** The first line of a backup. The file holds rows as JSON, so it can be restored into either database. */
export const BackupHeader = z.object({
  format: z.literal('ralph-backup'),
  version: z.literal(1),
  ralph: z.string(),
  kind: z.enum(['embedded', 'postgres']),
  createdAt: z.string(),
  migrations: z.array(z.object({ number: z.int(), name: z.string(), checksum: z.string() })),
  /** In the order in which they can be filled: a table follows those that it refers to. */
  tables: z.array(z.object({ schema: z.string(), name: z.string(), columns: z.array(z.string()) })),
})
export type BackupHeader = z.output<typeof BackupHeader>

const TableLine = z.object({ table: z.string(), rows: z.int() })
const EndLine = z.object({ end: z.literal(true), rows: z.int(), sha256: z.string() })

export type BackupTable = BackupHeader['tables'][number]

export const tableName = ({ schema, name }: Pick<BackupTable, 'schema' | 'name'>): string => `${schema}.${name}`

export type BackupPart =
  | { readonly kind: 'header'; readonly header: BackupHeader }
  | { readonly kind: 'row'; readonly table: string; readonly json: string }
  | { readonly kind: 'end'; readonly rows: number; readonly sha256: string }

/** A line that begins a table: its rows follow, then a line with their number. */
export const formatTableStart = (table: BackupTable): string => `table ${tableName(table)}`
export const formatTableEnd = (table: BackupTable, rows: number): string =>
  `end ${JSON.stringify({ table: tableName(table), rows })}`

/** Reads a backup and checks it while reading; throws BACKUP_DAMAGED before or at the end if it is not whole. */
export async function* readBackup(file: string): AsyncGenerator<BackupPart> {
  const damaged = (why: string, cause?: unknown) =>
    new RalphError('BACKUP_DAMAGED', `the backup cannot be used: ${why}`, { place: { file }, cause })
  const hash = createHash('sha256')
  let table: string | undefined
  let [rows, ofTable] = [0, 0]
  let [isFirst, isOver] = [true, false]
  try {
    for await (const line of readGzipLines(file)) {
      if (isOver) throw damaged('it goes on after its end')
      if (isFirst) {
        isFirst = false
        hash.update(line).update('\n')
        yield { kind: 'header', header: parseHeader(line) }
      } else if (line.startsWith('{') && table !== undefined) {
        hash.update(line).update('\n')
        rows++
        ofTable++
        yield { kind: 'row', table, json: line }
      } else if (line.startsWith('table ')) {
        hash.update(line).update('\n')
        table = line.slice('table '.length)
        ofTable = 0
      } else if (line.startsWith('end ')) {
        const counted = TableLine.parse(JSON.parse(line.slice('end '.length)))
        if (counted.table !== table || counted.rows !== ofTable) throw damaged(`rows of ${counted.table} are missing`)
        hash.update(line).update('\n')
        table = undefined
      } else {
        const end = EndLine.parse(JSON.parse(line))
        const sha256 = hash.digest('hex')
        if (end.rows !== rows || end.sha256 !== sha256) throw damaged('its checksum is wrong')
        isOver = true
        yield { kind: 'end', rows, sha256 }
      }
    }
  } catch (error) {
    throw error instanceof RalphError ? error : damaged(errorMessage(error), error)
  }
  if (!isOver) throw damaged('its end is missing')
}

function parseHeader(line: string): BackupHeader {
  const header = BackupHeader.safeParse(JSON.parse(line))
  if (header.success) return header.data
  throw new Error('it is not a backup of ralph, or of a version that this one does not know')
}
