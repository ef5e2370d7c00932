// The pictures of the docs, as text.

const loop = {
  title: 'The loop',
  description:
    'Ralph builds a prompt from goal, steps, check output and answers. The agent works with an empty context and reports. Without a claim the next iteration starts. A claim runs the checks in a clean room: red becomes the next prompt, green completes the sprint.',
  width: 94,
  height: 41,
  boxes: [
    { id: 'goal', x: 3, y: 4, w: 20, h: 7, head: 'SPRINT.yaml', lines: ['goal, checks, limits'] },
    {
      id: 'prompt',
      x: 3,
      y: 16,
      w: 20,
      h: 8,
      kind: 'ralph',
      head: 'Prompt',
      lines: ['goal, next step,', 'red check, your answer'],
    },
    {
      id: 'agent',
      x: 35,
      y: 16,
      w: 20,
      h: 8,
      kind: 'agent',
      head: 'Agent',
      lines: ['fresh context', 'plans, does one step'],
    },
    {
      id: 'report',
      x: 68,
      y: 16,
      w: 21,
      h: 8,
      kind: 'ralph',
      head: 'Report',
      lines: ['continue, claim', 'or question'],
    },
    { id: 'checks', x: 68, y: 29, w: 21, h: 6, kind: 'ralph', head: 'Checks in a clean room' },
    { id: 'done', x: 35, y: 29, w: 20, h: 6, kind: 'good', head: 'Goal reached' },
    { id: 'you', x: 68, y: 4, w: 21, h: 7, head: 'You', lines: ['exit code 2, answer'] },
  ],
  arrows: [
    { from: 'goal.bottom', to: 'prompt.top' },
    { from: 'prompt.right', to: 'agent.left', label: 'starts', at: [29, 19] },
    { from: 'agent.right', to: 'report.left', label: 'final message', at: [61.5, 19] },
    { from: 'report.bottom', to: 'checks.top', label: 'claim', at: [82, 27] },
    { from: 'checks.left', to: 'done.right', label: 'green', at: [61.5, 31] },
    {
      from: 'checks.bottom',
      to: 'prompt.bottom',
      via: [
        [78.5, 38.5],
        [13, 38.5],
      ],
      label: 'red: its output is the next prompt',
      at: [45, 37.6],
    },
    { from: 'report.top', to: 'you.bottom', label: 'question', at: [83, 14] },
    {
      from: 'report.top-6',
      to: 'prompt.top+6',
      via: [
        [72.5, 13],
        [19, 13],
      ],
      label: 'no claim: hooks, checkpoint, next iteration',
      at: [45, 12],
    },
  ],
}

const proof = {
  title: 'The clean room',
  description:
    'The work tree, where the agent was, gives only its files to the clean room. The tests and settings of the start come from Ralph. In the room, which no agent has touched, Ralph runs the tests by name. Held-out checks come from outside. The verdict is proved, refused or a question.',
  width: 94,
  height: 40,
  boxes: [
    {
      id: 'tree',
      x: 3,
      y: 5.75,
      w: 26,
      h: 9,
      kind: 'agent',
      head: 'Work tree',
      lines: ['the agent changed files,', 'tests, config, node_modules'],
    },
    {
      id: 'start',
      x: 3,
      y: 16,
      w: 26,
      h: 8,
      kind: 'ralph',
      head: 'Start of the sprint',
      lines: ['tests, settings, baseline'],
    },
    { id: 'held', x: 3, y: 27, w: 26, h: 8, kind: 'ralph', head: 'Held-out checks', lines: ['no agent can read them'] },
    { id: 'room', x: 40, y: 3, w: 29, h: 34, kind: 'group', head: 'Clean room, in a cell' },
    {
      id: 'one',
      x: 42,
      y: 7,
      w: 25,
      h: 6.5,
      kind: 'ralph',
      head: '1 new tests, new code',
      lines: ['green, none missing'],
    },
    { id: 'two', x: 42, y: 14.5, w: 25, h: 6.5, kind: 'ralph', head: '2 old tests, new code', lines: ['green'] },
    {
      id: 'three',
      x: 42,
      y: 22,
      w: 25,
      h: 6.5,
      kind: 'ralph',
      head: '3 new tests, old code',
      lines: ['red: they can fail'],
    },
    { id: 'four', x: 42, y: 29.5, w: 25, h: 6, kind: 'ralph', head: '4 held-out checks', lines: ['green'] },
    { id: 'proved', x: 76, y: 6, w: 15, h: 6, kind: 'good', head: 'proved' },
    { id: 'refused', x: 76, y: 17, w: 15, h: 6, kind: 'agent', head: 'refused', lines: ['next prompt'] },
    { id: 'asked', x: 76, y: 28, w: 15, h: 6, head: 'question', lines: ['contested, weak'] },
  ],
  arrows: [
    { from: 'tree.right', to: 'one.left', label: 'files only', at: [34.5, 9.6] },
    {
      from: 'start.right',
      to: 'two.left',
      via: [
        [37, 20],
        [37, 17.75],
      ],
    },
    {
      from: 'held.right',
      to: 'four.left',
      via: [
        [37, 31],
        [37, 32.5],
      ],
    },
    { from: 'room.right-11', to: 'proved.left' },
    { from: 'room.right', to: 'refused.left' },
    { from: 'room.right+11', to: 'asked.left' },
  ],
}

const fleet = {
  title: 'The fleet',
  description:
    'People use a browser, the command line or the API. They reach one or more backends over HTTPS. The backends share a Postgres database. Machines dial out to a backend over TLS 1.3 with certificates on both sides, and run agents in cells.',
  width: 94,
  height: 36,
  boxes: [
    { id: 'people', x: 3, y: 13, w: 18, h: 9, head: 'You', lines: ['page, command line,', 'API, webhooks'] },
    { id: 'one', x: 33, y: 6, w: 20, h: 8, kind: 'ralph', head: 'Backend', lines: ['decides: the same loop'] },
    { id: 'two', x: 33, y: 21, w: 20, h: 8, kind: 'ralph', head: 'Backend', lines: ['takes over in 3 s'] },
    { id: 'base', x: 34, y: 16, w: 18, h: 3.4, head: 'Postgres' },
    { id: 'left', x: 66, y: 3, w: 25, h: 13, kind: 'group', head: 'Machine build-1' },
    { id: 'right', x: 66, y: 19, w: 25, h: 13, kind: 'group', head: 'Machine build-2' },
    { id: 'a', x: 68, y: 7, w: 21, h: 7, kind: 'agent', head: 'agents in cells', lines: ['journal on its disk'] },
    { id: 'b', x: 68, y: 23, w: 21, h: 7, kind: 'agent', head: 'agents in cells', lines: ['journal on its disk'] },
  ],
  arrows: [
    {
      from: 'people.right-2',
      to: 'one.left',
      via: [
        [27, 15.5],
        [27, 10],
      ],
      label: 'HTTPS',
      at: [27, 9],
    },
    {
      from: 'people.right+2',
      to: 'two.left',
      via: [
        [27, 19.5],
        [27, 25],
      ],
    },
    { from: 'one.bottom', to: 'base.top' },
    { from: 'two.top', to: 'base.bottom' },
    { from: 'left.left+0.5', to: 'one.right', label: 'dials out, mTLS', at: [59.5, 8.6] },
    { from: 'right.left-0.5', to: 'two.right', label: 'dials out, mTLS', at: [59.5, 24] },
  ],
}

const layers = {
  title: 'The layers',
  description:
    'The command line and the page are outside. Below them: backend, agents-server and host. Below them: agents, proof, storage, connection and doctor. Below them: runtime and platform. At the bottom the pure layers: loop, compiler, words and contract. Imports go downwards only.',
  width: 94,
  height: 40,
  boxes: [
    { id: 'cli', x: 3, y: 4, w: 42, h: 5, head: 'cli', lines: [] },
    { id: 'web', x: 49, y: 4, w: 42, h: 5, head: 'web, client' },
    { id: 'backend', x: 3, y: 12, w: 27, h: 5, head: 'backend' },
    { id: 'server', x: 33.5, y: 12, w: 27, h: 5, head: 'agents-server' },
    { id: 'host', x: 64, y: 12, w: 27, h: 5, head: 'host' },
    { id: 'agents', x: 3, y: 20, w: 15, h: 5, head: 'agents' },
    { id: 'proofs', x: 21.25, y: 20, w: 15, h: 5, head: 'proof' },
    { id: 'storage', x: 39.5, y: 20, w: 15, h: 5, head: 'storage' },
    { id: 'connection', x: 57.75, y: 20, w: 15, h: 5, head: 'connection' },
    { id: 'doctor', x: 76, y: 20, w: 15, h: 5, head: 'doctor' },
    { id: 'runtime', x: 3, y: 28, w: 42, h: 5, kind: 'agent', head: 'runtime: load, advance, save, perform' },
    { id: 'platform', x: 49, y: 28, w: 42, h: 5, kind: 'agent', head: 'platform: files, processes, git' },
    { id: 'pure', x: 3, y: 35, w: 88, h: 4, kind: 'ralph', head: 'pure: loop, compiler, words, contract' },
  ],
  arrows: [
    {
      from: 'cli.bottom',
      to: 'server.top',
      via: [
        [24, 10.5],
        [47, 10.5],
      ],
    },
    {
      from: 'web.bottom',
      to: 'pure.right',
      via: [
        [70, 10.5],
        [92.5, 10.5],
        [92.5, 37],
      ],
    },
    { from: 'server.bottom', to: 'storage.top' },
    {
      from: 'storage.bottom',
      to: 'runtime.top+14',
      via: [
        [47, 26.5],
        [38, 26.5],
      ],
    },
    {
      from: 'storage.bottom',
      to: 'platform.top-14',
      via: [
        [47, 26.5],
        [56, 26.5],
      ],
    },
    { from: 'runtime.bottom', to: 'pure.top-23' },
    { from: 'platform.bottom', to: 'pure.top+23' },
  ],
}

export const pictures = { loop, proof, fleet, layers }
