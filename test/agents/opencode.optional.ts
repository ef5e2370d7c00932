import { opencode } from './real-agents.ts'
import * as scenario from './scenarios.ts'

scenario.install(opencode)

scenario.completeSprint(opencode)
scenario.tooManyRequests(opencode)
scenario.notLoggedIn(opencode)
scenario.droppedOnce(opencode)
scenario.hangingModel(opencode, 20)
scenario.terminatedDuringTool(opencode)
scenario.repair(opencode)
scenario.messageDuringAttempt(opencode)
scenario.trial(opencode)
