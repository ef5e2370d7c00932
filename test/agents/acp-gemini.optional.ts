import { acpGemini } from './real-agents.ts'
import * as scenario from './scenarios.ts'

scenario.install(acpGemini)

scenario.wholeSprint(acpGemini)
scenario.tooManyRequests(acpGemini)
scenario.notLoggedIn(acpGemini)
scenario.droppedOnce(acpGemini)
scenario.hangingModel(acpGemini)
scenario.terminatedDuringTool(acpGemini)
scenario.repair(acpGemini)
scenario.tried(acpGemini)
