import { gemini, geminiLimit } from './real-agents.ts'
import * as scenario from './scenarios.ts'

scenario.install(gemini)

scenario.completeSprint(gemini)
scenario.tooManyRequests(gemini)
scenario.limitWithoutAnEnd(gemini, geminiLimit)
scenario.notLoggedIn(gemini)
// Gemini does not retry once an answer has begun.
scenario.droppedStream(gemini, 1)
scenario.hangingModel(gemini, 10)
scenario.terminatedDuringTool(gemini)
// Includes two calls of its router.
scenario.repair(gemini, { tokens: { 'input-tokens': 2200, 'output-tokens': 140 } })
// Gemini keeps a tool in its history once it has ended.
scenario.messageDuringAttempt(gemini, '# Ralph: planning')
scenario.trial(gemini)
