import { gemini, geminiLimit } from './real-agents.ts'
import * as scenario from './scenarios.ts'

scenario.install(gemini)

scenario.wholeSprint(gemini)
scenario.tooManyRequests(gemini)
scenario.limitWithoutAnEnd(gemini, geminiLimit)
scenario.notLoggedIn(gemini)
// It does not try again once an answer has begun.
scenario.droppedStream(gemini, 1)
scenario.hangingModel(gemini, '10s')
scenario.terminatedDuringTool(gemini)
// With two calls of its router, which counts too.
scenario.repair(gemini, { tokens: { 'input-tokens': 2200, 'output-tokens': 140 } })
// It keeps a tool in its history once that has ended.
scenario.told(gemini, '# Ralph: planning')
scenario.tried(gemini)
