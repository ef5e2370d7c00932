/**
 * The library: every format that Ralph reads and writes, and its building blocks for other programs. The only file that
 * re-exports.
 */

export {
  errorCodes,
  formatPlace,
  RalphError,
  type ErrorCode,
  type ErrorDetails,
  type Place,
} from './contract/errors.ts'
export { AgentEvent, SprintEvent } from './contract/events.ts'
export { FailureClass, Outcome, Usage } from './contract/outcome.ts'
export {
  CheckResult,
  HookTask as HookTaskSchema,
  IterationRecord,
  LiveIteration,
  Mode,
  Progress,
  SprintMode,
  SprintStatus,
  Step,
  Verdict,
  type RunLimits,
} from './contract/progress.ts'
export { PhaseReport, Report, type ReportStatus } from './contract/report.ts'
export { Check } from './contract/check.ts'
export { Hook, Limits, Timeouts, UserConfig, type Settings } from './contract/settings.ts'
export { Sprint } from './contract/sprint.ts'
export { Duration, formatDuration, formatTimestamp, parseDuration, Timestamp } from './contract/time.ts'
export { Workflow } from './contract/workflow.ts'

export { compile, type CompilerConfig, type CompilerResult } from './seed-compile.ts'
export type { CompileInput, CompileResult, KnownAgent } from './compiler/resolve/compilation.ts'
export { formatDiagnostic, type Diagnostic, type Source } from './compiler/parse/diagnostics.ts'

export { advance, type Transition } from './loop/advance.ts'
export type { AttemptEnd, Fact } from './loop/core/fact.ts'
export type { Order } from './loop/core/order.ts'
export type { PromptInput as PromptFor } from './loop/core/way.ts'
export { buildIterationPrompt as buildPrompt } from './loop/prompts.ts'
export { readReport, type ReadReport } from './loop/ways/goal/goal-report.ts'

export { detectChecks } from './runtime/detect-checks.ts'
export type {
  AgentRequest,
  AgentRunner,
  Clock,
  Ports,
  ProgressStore,
  ShellEnd,
  ShellRequest,
  ShellRunner,
} from './runtime/ports.ts'
export { runSprint, type SprintRun } from './runtime/run-sprint.ts'

export type { Driver, Invocation, RunSpec } from './agents/drivers/driver.ts'
export type { Exit } from './agents/readers/outcome.ts'
export type { Reader } from './agents/readers/reader.ts'
export { getDriver, drivers } from './agents/drivers/registry.ts'
export { superviseShell, type ShellOptions } from './agents/supervise/shell.ts'
export { superviseAgent, type AgentOptions } from './agents/supervise/supervisor.ts'

export { systemClock } from './platform/clock.ts'
export { openSprintStore, type SprintStore, type SprintStoreOptions } from './storage/sprint/sprint-store.ts'

export {
  mergePerIterationHooks,
  validatePerIterationHook,
  validateSprintDefinition,
  validateWorkflowDefinition,
  type CompiledProgress,
  type CompiledTopPhase,
  type CompilerError,
  type CurrentPointer,
  type DynamicStep,
  type HookTask,
  type ParallelTask,
  type ParallelTaskStatus,
  type PerIterationHook,
  type PhaseStatus,
  type RalphConfig,
  type RalphExitInfo,
  type SprintDefinition,
  type SprintStats,
  type SprintStep,
  type WorkflowDefinition,
  type WorkflowPhase,
} from './seed-names.ts'
export { readProgress, runRalphLoop, runStandardLoop, type LoopOptions, type PortedLoopOptions } from './seed-loops.ts'
export type { ProgramRunOptions } from './cli/run/run-in-program.ts'
