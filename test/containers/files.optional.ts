import { spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { parse, parseAllDocuments } from 'yaml'
import { z } from 'zod'
import { root } from '../support/paths.ts'

/** Validators that only this test needs: the types of Kubernetes with their schemas, and a validator of JSON schemas. */
const packages = ['kubernetes-models@4.5.1', 'ajv@8.20.0', 'ajv-formats@3.0.1']
const folder = mkdtempSync(join(tmpdir(), 'ralph-validators-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
beforeAll(() => runProgram('npm', ['install', '--prefix', folder, '--no-audit', '--no-fund', ...packages]))

const load = (name: string): unknown => createRequire(join(folder, 'package.json'))(name)
const readText = (path: string): string => readFileSync(join(root, path), 'utf8')

function runProgram(file: string, args: readonly string[], input = '', env: NodeJS.ProcessEnv = {}): string {
  const { status, stdout, stderr, error } = spawnSync(file, args, {
    input,
    encoding: 'utf8',
    env: { ...process.env, ...env },
  })
  if (status !== 0) throw new Error(`${file} ${args[0]}: ${error?.message ?? stderr}`)
  return stdout
}

type Validator = { validate: (schema: object, value: unknown) => boolean; errorsText: () => string }
const isFunction = (value: unknown): boolean => typeof value === 'function'
const Ajv = z.custom<new (options: object) => Validator>(isFunction)

/** Problems of the value by that schema; an empty text if there are none. */
function validate(schema: object, value: unknown): string {
  const ajv = new (Ajv.parse(load('ajv')))({ strict: false, allErrors: true, validateFormats: false })
  return ajv.validate(schema, value) ? '' : ajv.errorsText()
}

const Tree = z.record(z.string(), z.unknown())

describe('compose.yaml', () => {
  const schema = z.looseObject({}).parse(JSON.parse(readText('test/containers/compose-spec.json')))
  delete schema['$schema']

  it('is valid by the schema of the Compose specification, which refuses a wrong field', () => {
    const compose = Tree.parse(parse(readText('compose.yaml'), { merge: true }))
    expect(validate(schema, compose)).toBe('')
    const services = Tree.parse(compose['services'])
    const wrong = { ...compose, services: { ...services, backend: { portz: ['7257'] } } }
    expect(validate(schema, wrong)).not.toBe('')
  })
})

const chart = 'deploy/helm/ralph'
const Values = z.looseObject({})

/** The chart's objects with these values in place of its own. */
function renderChart(overrides: Record<string, unknown>) {
  const values = mergeValues(Values.parse(parse(readText(`${chart}/values.yaml`))), overrides)
  const names = readdirSync(join(root, chart, 'templates'))
  const templates = Object.fromEntries(names.map((name) => [name, readText(`${chart}/templates/${name}`)]))
  const data = { Values: values, Release: { Name: 'fleet' }, Chart: parse(readText(`${chart}/Chart.yaml`)) }
  const go = { GO111MODULE: 'off', GOPATH: '/usr/share/gocode', GOCACHE: join(folder, 'go') }
  const program = join(root, 'test/containers/render.go')
  const rendered = runProgram('go', ['run', program], JSON.stringify({ templates, data }), go)
  const texts = Object.values(z.record(z.string(), z.string()).parse(JSON.parse(rendered)))
  const objects = texts.flatMap((text) => parseAllDocuments(text).map((document) => document.toJS() as unknown))
  return {
    values,
    objects: objects.filter((object) => object !== null).map((object) => KubernetesObject.parse(object)),
  }
}

const mergeValues = (base: Record<string, unknown>, over: Record<string, unknown>): Record<string, unknown> => ({
  ...base,
  ...Object.fromEntries(
    Object.entries(over).map(([key, value]) => {
      const inner = Tree.safeParse(value)
      const own = Tree.safeParse(base[key])
      return [key, inner.success && own.success ? mergeValues(own.data, inner.data) : value]
    }),
  ),
})

const KubernetesObject = z.looseObject({
  apiVersion: z.string(),
  kind: z.string(),
  metadata: z.looseObject({ name: z.string() }),
})

/** Kubernetes validates its own kinds; a ServiceMonitor belongs to the Prometheus operator. */
function validateObjects(objects: readonly z.infer<typeof KubernetesObject>[]): string[] {
  return objects.map((object) => {
    const label = `${object.kind} ${object.metadata.name}`
    if (object.apiVersion.startsWith('monitoring.coreos.com/')) return label
    const kinds = Tree.parse(load(`kubernetes-models/${object.apiVersion}`))
    const Kind = z.custom<new (data: object) => { validate: () => void }>().parse(kinds[object.kind])
    new Kind(object).validate()
    return label
  })
}

const everyValue = {
  image: { repository: 'registry.example.com/ralph', tag: '1.2.3', pullPolicy: 'Always' },
  origin: 'https://ralph.example.org',
  existingSecret: 'own-secret',
  caConfigMap: 'own-ca',
  backend: {
    replicas: 3,
    invitations: false,
    extraArgs: ['--keep-events=30d'],
    resources: { limits: { memory: '2Gi' } },
    service: { type: 'LoadBalancer', port: 80, machinesPort: 443 },
    machinesAddress: 'machines.example.org:443',
  },
  machines: {
    replicas: 5,
    slots: 8,
    labels: ['gpu', 'linux'],
    existingSecret: 'api-keys',
    seccompProfile: { type: 'Localhost', localhostProfile: 'userns.json' },
    storage: { size: '50Gi', className: 'fast' },
    resources: { limits: { memory: '8Gi' } },
  },
  ingress: { enabled: true, className: 'nginx', annotations: { 'example.org/a': 'b' }, tlsSecret: 'tls' },
  networkPolicy: { enabled: true },
  podDisruptionBudget: { minAvailable: 2 },
  serviceMonitor: { enabled: true },
}

describe('the chart', () => {
  const schema = z.looseObject({}).parse(JSON.parse(readText(`${chart}/values.schema.json`)))
  delete schema['$schema']
  const always = [
    'Deployment fleet-backend',
    'Service fleet-backend',
    'PodDisruptionBudget fleet-backend',
    'StatefulSet fleet-machine',
  ]
  const policies = ['NetworkPolicy fleet-machine', 'NetworkPolicy fleet-backend']

  it('is valid with its own values, and a wrong field would not be', () => {
    const { values, objects } = renderChart({})
    expect(validate(schema, values)).toBe('')
    expect(new Set(validateObjects(objects))).toEqual(new Set([...always, ...policies]))
    const [first] = objects
    expect(() => validateObjects([{ ...first!, spec: { replicas: 'two' } }])).toThrow('replicas')
  })

  it('is valid with every value set, and each value reaches an object', () => {
    const { values, objects } = renderChart(everyValue)
    expect(validate(schema, values)).toBe('')
    expect(new Set(validateObjects(objects))).toEqual(
      new Set([...always, ...policies, 'Ingress fleet-backend', 'ServiceMonitor fleet-backend']),
    )
    const text = JSON.stringify(objects)
    const missing = listLeaves(everyValue).filter((leaf) => !text.includes(leaf))
    expect(missing).toEqual([])
    expect(text).not.toContain('--invitations')
  })

  it('is valid with everything optional switched off, and refuses values that its schema forbids', () => {
    const off = { networkPolicy: { enabled: false }, ingress: { enabled: false }, serviceMonitor: { enabled: false } }
    const { objects } = renderChart({ ...off, machines: { replicas: 0 } })
    expect(new Set(validateObjects(objects))).toEqual(new Set(always))
    expect(validate(schema, renderChart({ origin: 'ralph.example.com' }).values)).toContain('origin')
    expect(validate(schema, renderChart({ backend: { replicas: 0 } }).values)).toContain('replicas')
  })
})

/** Every text and number in the values. Texts of addresses appear in parts, so only their host counts. */
function listLeaves(value: unknown): string[] {
  if (typeof value === 'string') return [value]
  if (typeof value === 'number') return [`${value}`]
  if (typeof value !== 'object' || value === null) return []
  return Object.values(value).flatMap(listLeaves)
}
