import { expect, it } from 'vitest'
import { routes } from '../../contract/fleet/routes.ts'
import { renderApiDocs } from './api-docs.ts'
import { buildOpenApi } from './openapi.ts'

it('shows every call and every schema it links to, without a script', () => {
  const html = renderApiDocs(buildOpenApi('1.2.3'))
  const missing = Object.keys(routes).filter((name) => !html.includes(`<section id="${name}">`))
  const links = [...html.matchAll(/href="#([^"]+)"/g)].map(([, id = '']) => id)
  expect(missing).toEqual([])
  expect(links.filter((id) => !html.includes(`id="${id}"`))).toEqual([])
  expect(/<script|style=|javascript:/.test(html)).toBe(false)
})
