/** Words of a private dialect. The right-hand side is what to write instead. */
const oddWords = [
  [/\b(some|any|no)body(?:'s)?\b/gi, 'name the actor: caller, user, process, replica, machine'],
  [/\bwhoever\b/gi, 'name the actor'],
  [
    /\b(?:is|are|was|were|be|been|being|gets?|has|have|must be|not) told\b|\btold (?:apart|of|by|at|in|to|as|so|about)\b|^\W*told\b/gi,
    'report, notify, pass, distinguish',
  ],
  [/\b(?:go|goes|going|gone|went) on\b/gi, 'continue, resume, happen'],
  [/\banew\b/gi, 'again'],
  [/\bso many\b/gi, 'at most N, this many'],
  [/\bmeanwhile\b/gi, 'during that time; name the event'],
  [/\bany more\b/gi, 'no longer'],
  [/\bfor ever\b/gi, 'forever'],
  [/\ball the same\b/gi, 'still, anyway'],
  [/\b(?:can|may|could) be had\b/gi, 'name who provides it'],
]

const participles =
  /^(?:export )?(?:type|interface|class) (Told|Wanted|Given|GivenUp|Seen|Held|Said|Made|Known|Found|Doing|Kept|Taken|Begun|Left|Shown|(?!Feed|Speed|Seed|Need)[A-Z][a-z]+ed)\b/gm
const endsInOf = /^ *(?:export )?(?:(?:async )?function\*? |const |let )([A-Za-z]\w*Of)\b/gm
const shadows =
  /^(?:export )?(?:(?:async )?function\*? |const |let |type |interface |class )(Record|Request|Response|Event|Map|Set|fetch|setTimeout|clearTimeout|escape|window|name|status|close|open|stop|print)\b/gm
/** Names of the old dialect: a listener is a listener, an event is an event. Facts and commands keep their words (`'told'`). */
const oddNames =
  /(?:\b(?:const|let|function) |[(,[] ?|\{ )((?:un)?hear[ds]?|hearing|told|told[A-Z]\w*|\w+(?:Told|Heard)|somebody|nobody|whoever|meanwhile|anew)\b(?=[ ,)=(}\]]|: [A-Z(]|: (?:string|number|boolean|readonly)\b)/g
/** `most…` for a maximum, and the times of the old dialect: `max…`, `timeoutMs`, `pollIntervalMs`, `retryDelayMs`. */
const oddLimits = /\b(?:const|let) (most[A-Z]\w*|patienceMs|lookMs|againMs|atOnce)\b/g
/** A participle says that something happened to a value, not what the value is. `asked` is a field of a machine message. */
const participleNames =
  /(?:\b(?:const|let|function) (given|asked|said|wanted|begun|meant)\b|\((?:\.\.\.)?(given|said|wanted|begun|meant)(?=[,):=]))/g
/** A name that begins with an article says nothing about what the function does. */
const articles = /^ *(?:export )?(?:(?:async )?function\*? |const )(an?[A-Z]\w*)\b/gm
/** `const [search, setWanted] = useState()`: a rename left the old word behind. */
const setters = /\[(\w+), set(?!\1\])\w+\] =/gi
/** `close`, `open`, `stop` and friends are globals of browsers only; a module may define them. */
const allowedShadows = new Set(['name', 'status', 'close', 'open', 'stop', 'print', 'Event'])

/** Every comment and test title with its line; code and other strings are left out. */
export function commentsIn(text) {
  const found = []
  const lines = text.split('\n')
  let block = false
  lines.forEach((line, index) => {
    const comment = block ? line : (/(?:^|\s)\/\/(.*)$/.exec(line)?.[1] ?? /\/\*(.*)$/.exec(line)?.[1])
    if (comment !== undefined) found.push({ line: index + 1, text: comment.replaceAll('*/', '').replace(/^\s*\*/, '') })
    const opens = line.lastIndexOf('/*')
    const closes = line.lastIndexOf('*/')
    if (block ? closes >= 0 : opens >= 0 && /(^|[\s(])\/\*/.test(line)) block = block ? closes < opens : closes < opens
  })
  return found
}

export const countOddWords = (comments) =>
  comments.reduce((sum, text) => sum + oddWords.reduce((n, [pattern]) => n + (text.match(pattern)?.length ?? 0), 0), 0)

/** These files quote what they refuse. Applied migrations never change: their checksums are in databases. */
const quotesTheRules = new Set(['scripts/house/voice.mjs', 'test/house.test.ts', 'docs/contribute/sentences.md'])
const appliedMigration = /^assets\/migrations\/000[1-4]-/

/** Where a file breaks a rule of "Voice" in AGENTS.md. */
export function findViolations({ path, text }) {
  if (quotesTheRules.has(path)) return []
  return [...findOddWords(path, [...commentsIn(text), ...titlesIn(text)]), ...namesIn(path, text)]
}

/** Where documentation, an example, a template or a migration has an odd word: every line of it is prose. */
export function findOddProse({ path, text }) {
  if (quotesTheRules.has(path) || appliedMigration.test(path)) return []
  const lines = text.split('\n').map((words, index) => ({ line: index + 1, text: words }))
  return findOddWords(path, lines)
}

const findOddWords = (path, lines) =>
  lines.flatMap(({ line, text }) =>
    oddWords
      .filter(([pattern]) => text.search(pattern) >= 0)
      .map(([, advice]) => ({ path, line, rule: `odd word (${advice})`, text: text.trim().slice(0, 200) })),
  )

function titlesIn(text) {
  return text.split('\n').flatMap((line, index) => {
    const title = /\b(?:it|describe|test)(?:\.each\([^)]*\))?\(\s*(['"`])(.*?)\1/.exec(line)?.[2]
    return title === undefined ? [] : [{ line: index + 1, text: title }]
  })
}

function namesIn(path, text) {
  const at = (index) => text.slice(0, index).split('\n').length
  const rule = (pattern, name, keep = () => true) =>
    [...text.matchAll(pattern)]
      .filter(([, found]) => keep(found))
      .map((match) => ({ path, line: at(match.index), rule: name, text: match[0] }))
  return [
    ...rule(endsInOf, 'name ends in Of (use a verb)'),
    ...rule(participles, 'type is a bare participle (use a noun)'),
    ...rule(oddNames, 'odd name (say what it holds or does)'),
    ...rule(oddLimits, 'odd name of a limit (max…, timeoutMs, pollIntervalMs)'),
    ...rule(participleNames, 'name is a bare participle (say what the value is)'),
    ...rule(setters, 'setter is not named after its state'),
    ...rule(articles, 'name begins with an article (use a verb)'),
    ...rule(shadows, 'name shadows a global', (name) => !allowedShadows.has(name)),
  ]
}
