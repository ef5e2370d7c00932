import { isGoalDriven } from '../../contract/way.ts'
import { toKebab } from '../../contract/file-object.ts'
import { promptVariables, findUnknownPromptVariables } from '../../contract/prompt-variables.ts'
import type { Sprint } from '../../contract/sprint.ts'
import type { Workflow } from '../../contract/workflow.ts'
import { checkAgents, checkModel } from './agent-choice.ts'
import type { Compilation, DecodedFile } from '../resolve/compilation.ts'
import type { Settings } from '../../contract/settings.ts'
import { errorAt, type ParsedFile, warningAt, getRawValue } from '../parse/parse.ts'
import { didYouMean } from '../parse/suggest.ts'

/** Checks that need the sprint, its workflow and the user's settings together. */
export function checkCompilation(compilation: Compilation, config: DecodedFile<Settings> | undefined): void {
  checkMode(compilation)
  checkConfig(compilation)
  checkSupported(compilation, config)
  checkChoices(compilation, config)
  checkPromptParts(compilation)
  checkDeprecated(compilation)
}

/** Fields that a mode does not use are refused, never ignored; phases in a goal-driven workflow only get a warning. */
const modeRules = {
  ralph: {
    sprint: ['collections', 'retry', 'prompts', 'parallel-execution'],
    workflow: ['retry', 'prompts', 'parallel-execution'],
    hint: 'remove it',
    unused: ['phases'],
    needsGoal: true,
  },
  standard: {
    sprint: ['ralph'],
    workflow: ['ralph', 'protocol', 'goal-prompt', 'reflection-prompt'],
    hint: 'add "mode: ralph" to the workflow, or remove it',
    unused: [],
    needsGoal: false,
  },
} as const

function checkMode({ sprint, main, report }: Compilation): void {
  const mode = main.value.mode ?? 'standard'
  const rules = modeRules[mode]
  for (const [file, fields] of [
    [sprint, rules.sprint],
    [main, rules.workflow],
  ] as const)
    for (const field of fields)
      if (isFieldSet(file.parsed, field))
        report(
          errorAt(
            { parsed: file.parsed, path: [field], part: 'key' },
            {
              code: 'NOT_SUPPORTED',
              message: `${field} has no meaning in a workflow with mode: ${mode}`,
              hint: rules.hint,
            },
          ),
        )
  for (const field of rules.unused)
    if (isFieldSet(main.parsed, field))
      report(
        warningAt(
          { parsed: main.parsed, path: [field], part: 'key' },
          {
            code: 'NOT_SUPPORTED',
            message: `${field} do not run in a workflow with mode: ${mode}`,
            hint: 'remove them',
          },
        ),
      )
  if (rules.needsGoal && (sprint.value.goal ?? '').trim() === '')
    report(
      errorAt(
        { parsed: sprint.parsed, path: ['goal'] },
        { code: 'RALPH_MISSING_GOAL', message: 'Ralph mode requires goal field in SPRINT.yaml' },
      ),
    )
}

const isFieldSet = (parsed: ParsedFile, field: string): boolean => (getRawValue(parsed, [field]) ?? null) !== null

/** The old `config` duplicates newer fields; setting both is an error. */
function checkConfig({ sprint, main, report }: Compilation): void {
  const { config, limits, checkpoint, steps, collections } = sprint.value
  if (!config) return
  const refuse = (field: string, message: string, hint?: string) =>
    report(
      errorAt(
        { parsed: sprint.parsed, path: ['config', field], part: 'key' },
        { code: 'INVALID_FIELD', message, ...(hint === undefined ? {} : { hint }) },
      ),
    )
  if (config.maxIterations !== undefined && limits?.iterations !== undefined)
    refuse('max-iterations', 'limits.iterations is given as well; keep one of them')
  if (config.timeBox !== undefined && limits?.duration !== undefined)
    refuse('time-box', 'limits.duration is given as well; keep one of them')
  if (config.autoCommit !== undefined && checkpoint !== undefined)
    refuse('auto-commit', 'checkpoint is given as well; keep one of them')
  if (config.maxTasks === undefined) return
  if (isGoalDriven(main.value))
    return refuse('max-tasks', 'max-tasks has no effect in Ralph mode, where the agent adds steps', 'use limits')
  const tasks = Object.values(collections ?? {}).reduce((sum, items) => sum + items.length, steps?.length ?? 0)
  if (tasks > config.maxTasks) refuse('max-tasks', `The sprint has ${tasks} items, and max-tasks is ${config.maxTasks}`)
}

function checkSupported(compilation: Compilation, config: DecodedFile<Settings> | undefined): void {
  const { sprint, main, input, report } = compilation
  for (const [field, reason] of input.notHonoured ?? [])
    for (const { parsed } of [sprint, main, ...(config ? [config] : [])])
      if (isFieldSet(parsed, field))
        report(
          errorAt(
            { parsed, path: [field], part: 'key' },
            { code: 'NOT_SUPPORTED', message: `${field} is not supported: ${reason}` },
          ),
        )
}

function checkChoices(
  { sprint, main, settings, input, report }: Compilation,
  config: DecodedFile<Settings> | undefined,
): void {
  const files: DecodedFile<Sprint | Workflow | Settings>[] = [sprint, main, ...(config ? [config] : [])]
  for (const { value, parsed } of files) {
    checkAgents(value, { parsed, path: [] }, input.agents, report)
    if (value.review) {
      const at = { parsed, path: ['review'] }
      checkAgents(value.review, at, input.agents, report)
      const { agent, model } = value.review
      if (model !== undefined)
        checkModel({ agent: [agent], model }, { ...at, path: ['review', 'model'] }, input.agents, report)
    }
  }
  const chooser = files.find(({ value }) => value.model !== undefined)
  if (chooser) checkModel(settings, { parsed: chooser.parsed, path: ['model'] }, input.agents, report)
}

function checkDeprecated({ sprint, main, report }: Compilation): void {
  for (const { value, parsed } of [sprint, main])
    for (const [index, check] of (value.doneWhen ?? []).entries())
      if (check.protect)
        report(
          warningAt(
            { parsed, path: ['done-when', index, 'protect'], part: 'key' },
            {
              code: 'DEPRECATED_FIELD',
              message: 'protect is no longer needed: at a claim, what defines a check counts as it was at the start',
              hint: 'remove it',
            },
          ),
        )
}

function checkPromptParts({ sprint, main, input, report }: Compilation): void {
  for (const { value, parsed } of [sprint, main])
    for (const [name, text] of Object.entries(value.prompts ?? {}))
      for (const raw of findUnknownPromptVariables(text ?? '')) {
        const at = { parsed, path: ['prompts', toKebab(name)], part: { text: raw } }
        const known = promptVariables.map((each) => `{{${each}}}`)
        const message = `${raw} is unknown and stays unchanged`
        const found = { code: 'UNRESOLVED_VARIABLES' as const, message, ...didYouMean(raw, known) }
        report(input.strict === true ? errorAt(at, found) : warningAt(at, found))
      }
}
