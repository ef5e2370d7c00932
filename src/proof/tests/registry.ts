import { ava } from './runners/ava.ts'
import { bun } from './runners/bun.ts'
import { cargo } from './runners/cargo.ts'
import { ctest } from './runners/ctest.ts'
import { deno } from './runners/deno.ts'
import { go } from './runners/go.ts'
import { jest } from './runners/jest.ts'
import { minitest } from './runners/minitest.ts'
import { mocha } from './runners/mocha.ts'
import { nodeTest } from './runners/node-test.ts'
import { phpunit } from './runners/phpunit.ts'
import { pytest } from './runners/pytest.ts'
import { dotnet, gradle, maven, nextest } from './runners/result-files.ts'
import { rspec } from './runners/rspec.ts'
import { tap } from './runners/tap.ts'
import { unittest } from './runners/unittest.ts'
import { vitest } from './runners/vitest.ts'
import type { TestRunner } from './form/test-runner.ts'

/** In the order in which plain output is tried. */
export const testRunners: ReadonlyMap<string, TestRunner> = new Map(
  [
    nodeTest,
    vitest,
    jest,
    mocha,
    ava,
    bun,
    deno,
    pytest,
    unittest,
    go,
    cargo,
    rspec,
    minitest,
    phpunit,
    ctest,
    maven,
    gradle,
    dotnet,
    nextest,
    tap,
  ].map((runner) => [runner.name, runner]),
)

/** The runners that a command names, or a script of the project that it may call (package.json, Makefile …). */
export function recognizeRunners(command: string, projectTexts: readonly string[] = []): TestRunner[] {
  const texts = [command, ...projectTexts]
  return [...testRunners.values()].filter(({ pattern }) => texts.some((text) => pattern.test(text)))
}
