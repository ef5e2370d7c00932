import { acpGemini } from './real-agents.ts'
import * as scenario from './scenarios.ts'

scenario.install(acpGemini)

scenario.completeSprint(acpGemini)
scenario.tooManyRequests(acpGemini)
scenario.notLoggedIn(acpGemini)
scenario.droppedStream(acpGemini, 1)
scenario.hangingModel(acpGemini, 10)
scenario.terminatedDuringTool(acpGemini)
scenario.repairFromTheStart(acpGemini)
scenario.trial(acpGemini)
