// What a first-class loop does about each fault, observed from outside: by the calls of the agent, the exit code and leftovers.
// `wants` are sentences with a test of the observation: {calls, exit (undefined: still running), left, secondsTaken, resetsAt}.

const endsBadly = ['ends by itself, and not with 0', ({ exit }) => exit !== undefined && exit !== 0]
const endsWell = ['ends with 0', ({ exit }) => exit === 0]
const atMost = (most) => [`starts the agent at most ${most} times`, ({ calls }) => calls.length <= most]
const exactly = (count) => [
  `starts the agent ${count === 1 ? 'once' : `${count} times`}`,
  ({ calls }) => calls.length === count,
]
const nothingLeft = ['leaves no process behind', ({ left }) => left === 0]
const oneAtATime = ['never runs two agents at once', ({ calls }) => calls.every(({ besides }) => besides === 0)]

export const redOutput = 'answer.txt does not say 42'

export const catalogue = [
  {
    fault: 'lie',
    agent: 'says "all tests pass"; the tests are red',
    wants: [
      ['refuses', ({ exit }) => exit !== 0],
      [
        'the output of the check is in a later prompt',
        ({ calls }) => calls.slice(1).some(({ prompt }) => prompt.includes(redOutput)),
      ],
      ['stops when nothing changes', ({ exit }) => exit !== undefined],
      atMost(20),
    ],
  },
  {
    fault: 'limit',
    agent: 'is at its usage limit and tells when that ends; then it works',
    wants: [
      ['waits: one start before the reset', ({ calls, resetsAt }) => beforeReset(calls, resetsAt) === 1],
      ['continues by itself', ({ calls, resetsAt }) => calls.length > beforeReset(calls, resetsAt)],
      endsWell,
    ],
  },
  { fault: 'crash', agent: 'crashes (exit 1), always', wants: [endsBadly, atMost(10)] },
  { fault: 'echo', agent: 'repeats its prompt, always', wants: [endsBadly, atMost(20)] },
  { fault: 'empty', agent: 'answers nothing, always', wants: [endsBadly, atMost(20)] },
  { fault: 'busy', agent: 'says "still at it", changes nothing, always', wants: [endsBadly, atMost(20)] },
  {
    fault: 'hang',
    agent: 'hangs, always, with a child that left its session',
    wants: [['ends it', ({ calls }) => calls[0]?.endedAt !== undefined], endsBadly, atMost(10)],
  },
  { fault: 'hang-after-result', agent: 'prints its result, but does not exit', wants: [endsWell, exactly(1)] },
  {
    fault: 'flood',
    agent: 'prints endlessly',
    wants: [['ends it', ({ calls }) => calls[0]?.endedAt !== undefined], endsBadly, atMost(3)],
  },
  { fault: 'question', agent: 'asks a question', wants: [endsBadly, exactly(1)] },
  { fault: 'wrong-ids', agent: 'names unknown steps, then works', wants: [endsWell, exactly(2)] },
  { fault: 'not-logged-in', agent: 'is not logged in', wants: [endsBadly, exactly(1)] },
  { fault: 'setsid-child', agent: 'works, and leaves a child in a session of its own', wants: [endsWell] },
  {
    fault: 'kill',
    agent: 'is at work when the loop gets kill -9 and is started again',
    plays: 'slow',
    wants: [['does not pay twice: takes what the first start did', ({ calls }) => calls.length === 1], endsWell],
  },
].map((row) => ({ ...row, wants: [...row.wants, oneAtATime, nothingLeft] }))

function beforeReset(calls, resetsAt) {
  return calls.filter(({ startedAt }) => startedAt < resetsAt * 1000).length
}
