import { acpCodex } from './real-agents.ts'
import * as scenario from './scenarios.ts'

scenario.install(acpCodex)

scenario.completeSprint(acpCodex)
scenario.tooManyRequests(acpCodex)
scenario.notLoggedIn(acpCodex)
scenario.droppedOnce(acpCodex)
scenario.hangingModel(acpCodex, 10)
scenario.terminatedDuringTool(acpCodex)
scenario.repair(acpCodex)
scenario.messageDuringAttempt(acpCodex)
scenario.trial(acpCodex)
