import { array, assert, constantFrom, property } from 'fast-check'
import { expect, it } from 'vitest'
import { isWithin } from '../../platform/files/paths.ts'
import { orderMounts, type Mount, type View } from './mounts.ts'

const empty: View = { system: [], writable: [], readable: [], emptyFolders: [], emptyFiles: [] }
const paths = (view: Partial<View>) => orderMounts({ ...empty, ...view }).map(({ path }) => path)

it('mounts from the outside in: what is mounted later covers what is there', () => {
  const view = {
    writable: ['/home/me/project'],
    readable: ['/home/me/project/.claude', '/usr'],
    emptyFolders: ['/home/me'],
  }
  expect(paths(view)).toEqual(['/usr', '/home/me', '/home/me/project', '/home/me/project/.claude'])
})

it('binds every folder between a writable one and a wall onto itself, so that it cannot be renamed', () => {
  const view = { writable: ['/p'], readable: ['/p/.git/objects/info/alternates'] }
  expect(orderMounts({ ...empty, ...view })).toEqual([
    { kind: 'bind', path: '/p', from: '/p', write: true },
    { kind: 'bind', path: '/p/.git', from: '/p/.git', write: true },
    { kind: 'bind', path: '/p/.git/objects', from: '/p/.git/objects', write: true },
    { kind: 'bind', path: '/p/.git/objects/info', from: '/p/.git/objects/info', write: true },
    {
      kind: 'bind',
      path: '/p/.git/objects/info/alternates',
      from: '/p/.git/objects/info/alternates',
      write: false,
    },
  ])
})

it('shows nothing of a folder that only leads to something', () => {
  const view: Partial<View> = {
    system: [{ kind: 'bind', path: '/tmp', from: '/private', write: true }],
    writable: ['/tmp/a/project'],
  }
  expect(paths(view)).toEqual(['/tmp', '/tmp/a/project'])
})

const name = constantFrom('a', 'b', 'c')
const path = array(name, { minLength: 1, maxLength: 5 }).map((names) => `/w/${names.join('/')}`)

const parent = (folder: string) => folder.slice(0, folder.lastIndexOf('/'))

const nearest = (folder: string, at: ReadonlyMap<string, Mount>): Mount | undefined =>
  folder === '' ? undefined : (at.get(folder) ?? nearest(parent(folder), at))

it('leaves no wall whose parents could be moved away', () => {
  assert(
    property(array(path), array(path), array(path), (readable, writable, emptyFolders) => {
      const mounts = orderMounts({ ...empty, writable: ['/w', ...writable], readable, emptyFolders })
      const at = new Map(mounts.map((mount) => [mount.path, mount]))
      for (const [index, wall] of mounts.entries()) {
        // A later mount never covers an earlier one that lies below it.
        expect(mounts.slice(index + 1).every((later) => !isWithin(wall.path, later.path))).toBe(true)
        for (let folder = parent(wall.path); folder.length > 2; folder = parent(folder)) {
          if (at.has(folder)) continue
          const around = nearest(folder, at)
          expect(around?.kind === 'bind' && around.write).toBe(false)
        }
      }
    }),
  )
})

it.each([
  ['/a/b', '/a', true],
  ['/a', '/a', true],
  ['/ab', '/a', false],
  ['/a', '/', true],
])('%s is within %s: %s', (inner, folder, answer) => {
  expect(isWithin(inner, folder)).toBe(answer)
})
