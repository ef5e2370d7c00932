import { acpClaude } from './real-agents.ts'
import * as scenario from './scenarios.ts'

scenario.install(acpClaude)

scenario.completeSprint(acpClaude)
scenario.tooManyRequests(acpClaude)
scenario.notLoggedIn(acpClaude)
scenario.droppedOnce(acpClaude)
scenario.hangingModel(acpClaude, 10)
scenario.terminatedDuringTool(acpClaude)
scenario.repair(acpClaude)
scenario.messageDuringAttempt(acpClaude)
scenario.trial(acpClaude)
