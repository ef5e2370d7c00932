import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { migrations } from './test-fleet.ts'

/** Changes that would break an older version running beside the new one. */
const breakingPatterns = [
  /\bdrop (table|column|index|type|view|function|trigger|schema)\b/,
  /\brename\b/,
  /\balter column \S+ (set data )?type\b/,
  /\balter column \S+ set not null\b/,
  /\balter column \S+ drop default\b/,
  /\badd column (if not exists )?(?!.*\bdefault\b).*\bnot null\b/,
  /\badd (constraint \S+ )?(check|unique|foreign key|primary key|exclude)\b/,
  /\bcreate unique index\b/,
  /\btruncate\b/,
  /\bdelete from\b/,
]

/** Statements that do more than add, unless the first line of the file declares it breaking. */
function findBreakingStatements(sql: string): string[] {
  if (sql.startsWith('-- breaking: ')) return []
  const own = new Set([...sql.matchAll(/\bcreate table (\S+)/gi)].map(([, name]) => name))
  const statements = sql
    .replaceAll(/--.*$/gm, '')
    .split(';')
    .map((statement) => statement.replaceAll(/\s+/g, ' ').trim())
  // No older version knows a table created in the same file.
  const isOwn = (statement: string) => [...own].some((name) => new RegExp(` on ${name}\\b`, 'i').test(statement))
  return statements.filter(
    (statement) => !isOwn(statement) && breakingPatterns.some((pattern) => pattern.test(statement.toLowerCase())),
  )
}

it('only adds in every step, so that two versions can share a database', () => {
  const files = readdirSync(migrations).toSorted().slice(1)
  const found = files.map((name) => ({
    name,
    breaks: findBreakingStatements(readFileSync(join(migrations, name), 'utf8')),
  }))
  expect(found).toEqual(files.map((name) => ({ name, breaks: [] })))
})

it.each([
  'drop table sprint',
  'alter table sprint drop column seq',
  'alter table sprint rename column seq to number',
  'alter table sprint rename to run',
  'alter table sprint alter column seq type bigint',
  'alter table sprint alter column diff set not null',
  'alter table sprint add column owner text not null',
  'alter table sprint add constraint known check (seq > 0)',
  'create unique index one on sprint (agent_id)',
  'delete from event',
])('detects a breaking change: %s', (statement) => {
  const file = `-- Some words.\nalter table agent add column more text;\n${statement};\n`
  expect(findBreakingStatements(file)).toEqual([statement])
  expect(findBreakingStatements(`-- breaking: the reason\n${file}`)).toEqual([])
})

it('accepts changes that only add', () => {
  const file = `
    create table more (id int primary key, name text not null unique);
    create unique index more_names on more (name);
    alter table sprint add column more_id int references more;
    alter table sprint add column names jsonb not null default '[]';
    create index sprint_more on sprint (more_id);`
  expect(findBreakingStatements(file)).toEqual([])
})
