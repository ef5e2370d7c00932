import { namesNode, namesOthers } from './found-by-name.mjs'
import { knowsNode } from './knows-node.mjs'
import { knowsGo, knowsMake, knowsPytest, knowsRust, knowsUnittest } from './knows-others.mjs'
import { settingsDependencies, settingsNode, settingsWorkspaces } from './settings-node.mjs'
import { knowsRoomNode, knowsRoomOthers, timeRoom } from './knows-room.mjs'
import {
  settingsDependenciesMore,
  settingsNodeMore,
  settingsPytestMore,
  settingsRustMore,
  settingsUnittestMore,
  settingsWorkspacesMore,
} from './settings-more.mjs'
import {
  besideGo,
  besideKnowledge,
  besideMake,
  besideNode,
  besidePython,
  besideRust,
  besideTime,
  besideWorkspaces,
} from './runs-beside.mjs'
import { settingsGo, settingsMake, settingsRust } from './settings-others.mjs'
import { settingsPytest, settingsUnittest } from './settings-python.mjs'
import { stateChecks } from './state-checks.mjs'
import { stateGit } from './state-git.mjs'
import { stateJournal } from './state-journal.mjs'
import { stateWords } from './state-words.mjs'
import { testsNode, testsWorkspaces } from './tests-node.mjs'
import { placesMake, placesNode, placesPytest, placesRust } from './tests-places.mjs'
import { testsGo, testsMake, testsRust } from './tests-others.mjs'
import { testsPytest, testsUnittest } from './tests-python.mjs'
import { testsVacuous } from './tests-vacuous.mjs'
import { time, timeMake } from './time.mjs'
import { uncommonKnowledge, uncommonSettings, uncommonTests } from './uncommon.mjs'

export const cheats = [
  ...[stateChecks, stateJournal, stateGit, stateWords],
  ...[testsNode, testsWorkspaces, testsVacuous, testsPytest, testsUnittest, testsRust, testsGo, testsMake],
  ...[
    settingsNode,
    settingsDependencies,
    settingsWorkspaces,
    settingsPytest,
    settingsUnittest,
    settingsMake,
    settingsRust,
    settingsGo,
  ],
  ...[settingsNodeMore, settingsDependenciesMore, settingsWorkspacesMore],
  ...[settingsPytestMore, settingsUnittestMore, settingsRustMore],
  ...[knowsNode, knowsPytest, knowsUnittest, knowsRust, knowsGo, knowsMake, knowsRoomNode, knowsRoomOthers],
  ...[placesNode, placesPytest, placesRust, placesMake],
  ...[namesNode, namesOthers],
  ...[time, timeMake, timeRoom],
  ...[besideNode, besideWorkspaces, besidePython, besideRust, besideGo, besideMake, besideTime, besideKnowledge],
  ...[uncommonTests, uncommonSettings, uncommonKnowledge],
].flat()
