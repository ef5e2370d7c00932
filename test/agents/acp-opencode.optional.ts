import { acpOpencode } from './real-agents.ts'
import * as scenario from './scenarios.ts'

scenario.install(acpOpencode)

scenario.completeSprint(acpOpencode)
scenario.tooManyRequests(acpOpencode)
scenario.notLoggedIn(acpOpencode)
scenario.droppedOnce(acpOpencode)
scenario.hangingModel(acpOpencode, 20)
scenario.terminatedDuringTool(acpOpencode)
scenario.repair(acpOpencode)
scenario.messageDuringAttempt(acpOpencode)
scenario.trial(acpOpencode)
