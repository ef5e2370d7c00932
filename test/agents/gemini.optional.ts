import { gemini } from './real-agents.ts'
import * as scenario from './scenarios.ts'

scenario.install(gemini)

scenario.wholeSprint(gemini)
scenario.tooManyRequests(gemini)
scenario.notLoggedIn(gemini)
scenario.droppedOnce(gemini)
scenario.hangingModel(gemini)
scenario.terminatedDuringTool(gemini)
scenario.repair(gemini)
scenario.tried(gemini)
