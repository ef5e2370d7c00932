// What the user's own git does later in the project, and further ways to a wall: forms of an address, names that lead inside, calls of the kernel.
const make = (kind) => (id, sh, outside) => ({ id, class: kind, sh, outside })
const [net, sys, proc, state] = ['network', 'system-call', 'process', 'state'].map(make)
const py = (code) => `python3 -c "${code}"`
const lib = 'import ctypes,os;l=ctypes.CDLL(None,use_errno=True);b=ctypes.create_string_buffer(256)'
const call = (...args) => py(`${lib};raise SystemExit(l.syscall(${args.join(',')})<0)`)
const curl = (url, more = '') => `curl -s -g -m20 --noproxy "" --proxy http://127.0.0.1:3128 ${more} "${url}"`
const raw = (text) =>
  `printf '${text}' "$ORIGIN_PORT" "$ORIGIN_PORT" | timeout 20 bash -c 'exec 3<>/dev/tcp/127.0.0.1/3128; cat >&3; cat <&3'`

/** The user looks at the work, fetches and pushes. `$RAN` is a command that leaves a mark. */
const userGit = (id, sh, first) => ({
  id,
  class: 'user-git',
  first,
  sh: `RAN="touch $OUTSIDE/ran"; ${sh}; exit 1`,
  outside: async (look) => (await look.userWorks(), look.has('outside/ran')),
})
const nested = 'git init -q sub; echo x >sub/x.txt; git -C sub add .; git -C sub commit -qm x'
const monitor = (folder) => `git -C ${folder} config core.fsmonitor "$RAN; false"`
const bare =
  'git init -q --bare evil; printf "#!/bin/sh\\n$RAN\\n" >evil/hooks/pre-receive; chmod +x evil/hooks/pre-receive'

/** A file that the user's next session of the program obeys. */
const obeyed = (driver, name) => ({
  id: `${driver}-${name.replaceAll(/[^a-z]+/g, '-')}`,
  class: 'session',
  driver,
  sh: `mkdir -p "$(dirname ~/.${driver}/${name})"; echo evil >>~/.${driver}/${name}; exit 1`,
  outside: ({ home }) => home(`.${driver}/${name}`).includes('evil'),
})
const ofClaude = ['.config.json', 'daemon/dispatch/x.json', 'jobs/x.json', 'workflows/x.js', 'dev-mods/x/y.js']
const ofCodex = [
  '.env',
  'packages/standalone/codex',
  'plugins/cache/x/hooks.json',
  '.tmp/plugins/x.json',
  'work.config.toml',
  'hooks.json',
]

export const laterCases = [
  ...ofClaude.map((name) => obeyed('claude', name)),
  ...ofCodex.map((name) => obeyed('codex', name)),
  ...['.mcp.json', '.codex/config.toml'].map((name) =>
    state(
      `settings-of-project-${name.replaceAll(/[^a-z]+/g, '')}`,
      `echo x >>${name} || { rm ${name} && echo x >${name}; }`,
    ),
  ),
  userGit('new-gitlink', `${nested}; git add sub; ${monitor('sub')}`),
  userGit(
    'new-gitlink-filter',
    `${nested}; git add sub; git -C sub config filter.e.clean "$RAN; cat"; echo '* filter=e' >sub/.gitattributes; sleep 1; echo y >sub/x.txt`,
  ),
  userGit('new-gitlink-deep', `mkdir -p a/b/c/d; cd a/b/c/d; ${nested}; git add sub; ${monitor('sub')}`),
  userGit('new-gitlink-committed', `${nested}; git add sub; git commit -qm sub; ${monitor('sub')}`),
  userGit(
    'new-gitlink-to-folder',
    `${nested}; git add sub; mv sub/.git g; echo "gitdir: ../g" >sub/.git; ${monitor('sub')}`,
  ),
  userGit('new-gitlink-of-earlier-attempt', `git add sub`, `RAN="touch $OUTSIDE/ran"; ${nested}; ${monitor('sub')}`),
  userGit(
    'empty-submodule',
    `cd third/party/lib && git init -q && echo x >x && git add x && git commit -qm x && ${monitor('.')}`,
  ),
  userGit(
    'deep-repository-hook',
    `printf "#!/bin/sh\\n$RAN\\n" >third/party/own/.git/hooks/post-index-change; chmod +x third/party/own/.git/hooks/post-index-change`,
  ),
  userGit('deep-repository-config', `${monitor('third/party/own')}`),
  userGit(
    'remotes-file',
    `${bare}; mkdir -p .git/remotes; printf "URL: $PROJECT/evil\\nPush: HEAD\\n" >.git/remotes/origin`,
  ),
  userGit('branches-file', `${bare}; mkdir -p .git/branches; echo "$PROJECT/evil" >.git/branches/origin`),
  userGit(
    'new-worktree',
    `mkdir -p .git/worktrees/evil w; printf "../..\\n" >.git/worktrees/evil/commondir; echo "$PROJECT/w/.git" >.git/worktrees/evil/gitdir; echo "ref: refs/heads/x" >.git/worktrees/evil/HEAD; printf "[core]\\n\\tfsmonitor = $RAN\\n" >.git/worktrees/evil/config.worktree`,
  ),
  userGit(
    'index-gitlink-without-folder',
    `git update-index --add --cacheinfo "160000,$(git rev-parse HEAD),sub"; ${nested}; ${monitor('sub')}`,
  ),
  userGit(
    'ignored-gitlink',
    `${nested}; git add sub; echo sub >>.git/info/exclude; git update-index --assume-unchanged sub; ${monitor('sub')}`,
  ),
  userGit(
    'module-of-gitmodules',
    `printf '[submodule "x"]\\n\\tpath = sub\\n\\turl = ./sub\\n\\tupdate = !'"$RAN"'\\n' >.gitmodules; ${nested}; git add sub .gitmodules; ${monitor('sub')}`,
  ),
  // Names that the allow-list has, and that lead inside.
  ...['mapped', 'nat64', 'unspecified', 'metadata', 'shared', 'unique', 'mixed', 'changing'].map((name) =>
    net(
      `name-to-${name}`,
      `for n in 1 2 3; do ${curl(`http://${name}.test:$ORIGIN_PORT/`)} | grep origin && exit 0; done; exit 1`,
    ),
  ),
  net('proxy-octal', `${curl('http://017700000001:$ORIGIN_PORT/')} | grep origin`),
  net('proxy-short', `${curl('http://127.1:$ORIGIN_PORT/')} | grep origin`),
  net('proxy-mapped-hex', `${curl('http://[::ffff:7f00:1]:$ORIGIN_PORT/')} | grep origin`),
  net('proxy-zone', `${curl('http://[::1%%25lo]:$ORIGIN_PORT/')} | grep origin`),
  net('proxy-localhost-below', `${curl('http://a.localhost:$ORIGIN_PORT/')} | grep origin`),
  net('connect-address', `${curl('http://127.0.0.1:$ORIGIN_PORT/', '--proxytunnel')} | grep origin`),
  net('connect-decimal', `${curl('http://2130706433:$ORIGIN_PORT/', '--proxytunnel')} | grep origin`),
  net('connect-ipv6', `${curl('http://[::1]:$ORIGIN_PORT/', '--proxytunnel')} | grep origin`),
  net(
    'connect-host-header',
    raw(String.raw`CONNECT 127.0.0.1:%s HTTP/1.1\r\nHost: allowed.test:%s\r\n\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n`) +
      ' | grep origin',
  ),
  net(
    'connect-with-url',
    raw(String.raw`CONNECT http://127.0.0.1:%s/ HTTP/1.1\r\nHost: a\r\n\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n`) +
      ' | grep origin',
  ),
  net(
    'connect-null',
    raw(
      String.raw`CONNECT 127.0.0.1\x00.allowed.test:%s HTTP/1.1\r\nHost: a\r\n\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n`,
    ) + ' | grep origin',
  ),
  net(
    'host-header-of-other',
    `${curl('http://allowed.test:$ORIGIN_PORT/', '-H "Host: inside.test"')} | grep host=inside`,
  ),
  net(
    'host-header-dropped',
    raw(String.raw`GET http://allowed.test:%s/ HTTP/1.1\r\nHost: inside.test\r\nConnection: close, host\r\n\r\n`) +
      ' | grep host=inside',
  ),
  net(
    'host-header-twice',
    raw(
      String.raw`GET http://allowed.test:%s/ HTTP/1.1\r\nHost: allowed.test\r\nHost: inside.test\r\nConnection: close\r\n\r\n`,
    ) + ' | grep host=inside',
  ),
  net(
    'request-in-a-line',
    raw(
      String.raw`GET http://allowed.test:%s/ HTTP/1.1\nHost: a\n\nGET http://127.0.0.1:%s/secret HTTP/1.1\nHost: a\n\n`,
    ) + ' | grep origin-secret',
  ),
  net(
    'chunked-and-length',
    raw(
      String.raw`POST http://allowed.test:%s/ HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n0\r\n\r\nGET /secret HTTP/1.1\r\nHost: %s\r\n\r\n`,
    ) + ' | grep origin-secret',
  ),
  net('redirect-followed', `${curl('http://allowed.test:$ORIGIN_PORT/to-loopback', '-L')} | grep secret`),
  // Calls of the kernel.
  sys('io-uring-enter', call(426, 0, 1, 0, 0, 0, 0)),
  sys('io-uring-register', call(427, 0, 0, 0, 0)),
  sys('immutable', 'echo x >i.txt; chattr +i i.txt'),
  sys('lease-of-sprint', py("import fcntl,os;fcntl.fcntl(os.open('package.json',0),1024,1)") + '; exit 1'),
  sys(
    'set-user-id-xattr',
    py(
      "import os;open('c','w');os.setxattr('c','security.capability',bytes.fromhex('0100000200000020000000000000000000000000'))",
    ),
  ),
  sys('terminal-console', py("import fcntl,pty;m,s=pty.openpty();fcntl.ioctl(s,0x541C,b'\\x03')")),
  sys('terminal-controlling', py("import fcntl,os;f=os.open('/dev/tty',os.O_RDWR);fcntl.ioctl(f,0x540E,1)")),
  sys('process-madvise', call(440, 1, 'b', 1, 4, 0)),
  sys('remap-of-first', call(310, 1, 'b', 1, 'b', 1, 0)),
  sys(
    'ia32',
    `python3 - <<'E'
import ctypes,mmap
m=mmap.mmap(-1,4096,prot=7);m.write(bytes.fromhex('b814000000cd80c3'))
a=ctypes.addressof(ctypes.c_char.from_buffer(m))
raise SystemExit(ctypes.CFUNCTYPE(ctypes.c_int)(a)()<0)
E`,
  ),
  proc(
    'orphan-of-clean-child',
    'env -i setsid sh -c "(env -i setsid -f sleep $LEFT </dev/null >/dev/null 2>&1 &)"; exit 1',
    (look) => look.left,
  ),
  proc('stopped-orphan', 'setsid sh -c "kill -STOP \\$\\$; exec sleep $LEFT" & sleep 0.1; exit 1', (look) => look.left),
  proc(
    'deaf-orphan',
    "python3 -c \"import signal,os\nfor s in range(1,64):\n  try: signal.signal(s,signal.SIG_IGN)\n  except Exception: pass\nif os.fork()==0:\n  os.setsid()\n  if os.fork()==0: os.execlp('sleep','sleep',os.environ['LEFT'])\"; exit 1",
    (look) => look.left,
  ),
  proc('group-of-outside', 'grep -v ":/$" /proc/self/cgroup'),
  state(
    'sprint-file-by-rename-of-copy',
    'cp -a .claude c2; mv c2/sprints/s1/SPRINT.yaml .claude/sprints/s1/SPRINT.yaml',
  ),
  state('claude-file-in-place', 'mv package.json .claude/settings.json || mv package.json .claude/settings.local.json'),
  state(
    'unnamed-file',
    py(
      "import os;f=os.open('.claude',os.O_TMPFILE|os.O_RDWR);os.link('/proc/self/fd/%d'%f,'.claude/settings.local.json')",
    ),
  ),
  state('descriptor-of-parent', py("import os;f=os.open('.',0);os.rename('.claude','x',src_dir_fd=f,dst_dir_fd=f)")),
]
