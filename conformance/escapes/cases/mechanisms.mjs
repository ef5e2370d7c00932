// Other mechanisms: daemons and agents of the user's session, files that other programs obey, forms of a host, kernel interfaces,
// and programs that Ralph's own git would start after the attempt.
const make = (kind) => (id, sh, outside) => ({ id, class: kind, sh, outside })
const [net, sys, proc, write, state] = ['network', 'system-call', 'process', 'write', 'state'].map(make)
const py = (code) => `python3 -c "${code}"`
const lib = 'import ctypes,os;l=ctypes.CDLL(None,use_errno=True);b=ctypes.create_string_buffer(256)'
const call = (...args) => py(`${lib};raise SystemExit(l.syscall(${args.join(',')})<0)`)
const outer = "int(os.environ['OUTER_PID'])"
const raw = (text) => `${text} | timeout 20 bash -c 'exec 3<>/dev/tcp/127.0.0.1/3128; cat >&3; cat <&3'`
const get = (url) =>
  raw(`printf 'GET ${url} HTTP/1.1\\r\\nHost: a\\r\\nConnection: close\\r\\n\\r\\n' "$ORIGIN_PORT" "$ORIGIN_PORT"`)
const isAsked = (host) => (look) => look.asked.includes(host)
const curl = (url) => `curl -s -m20 --noproxy "" --proxy http://127.0.0.1:3128 "${url}"`

/** A file of the home folder that a program of the user obeys. */
const plants = (id, name) =>
  write(id, `mkdir -p "$(dirname ~/${name})"; echo evil >>~/${name}; exit 1`, ({ home }) => home(name).includes('evil'))

/** Ralph takes a checkpoint, compares and restores after the attempt. `$RAN` is a command that leaves a mark. */
const ralphGit = (id, sh) => ({
  id,
  class: 'ralph-git',
  sh: `RAN="touch $OUTSIDE/ran"; ${sh}; exit 1`,
  outside: async (look) => (await look.ralphCommits(), look.has('outside/ran')),
})
const nested = 'git init -q sub; echo x >sub/x.txt; git -C sub add .; git -C sub commit -qm x'

/** A program in a folder of the project that is on PATH, under the name of one that Ralph starts to build the next cell. */
const onPath = (name) => ({
  id: `program-${name}`,
  class: 'planted',
  first: `mkdir -p node_modules/.bin; printf '#!/bin/sh\\nPATH=/usr/bin:/bin\\ntouch %s/ran\\nexec ${name} "$@"\\n' "$OUTSIDE" >node_modules/.bin/${name}; chmod +x node_modules/.bin/${name}`,
  sh: 'exit 1',
  outside: ({ has }) => has('outside/ran'),
})

export const mechanismCases = [
  // Daemons, and agents that hold keys.
  net('gpg-agent', py("import socket,os;socket.socket(1).connect(os.environ['HOME']+'/.gnupg/S.gpg-agent')")),
  net(
    'daemon-sockets',
    'for s in /run/systemd/private /run/systemd/journal/socket /dev/log /run/snapd.socket /run/containerd/containerd.sock /run/crio/crio.sock /run/libvirt/libvirt-sock /var/lib/lxd/unix.socket /run/cups/cups.sock /run/user/*/wayland-0 /run/user/*/pulse/native; do test -S "$s" && exit 0; done; exit 1',
  ),
  net(
    'display-abstract',
    py(
      "import socket\nfor n in ('/tmp/.X11-unix/X0','/tmp/.ICE-unix/1','/tmp/dbus-x'):\n  try: socket.socket(1).connect(chr(0)+n); raise SystemExit(0)\n  except OSError: pass\nraise SystemExit(1)",
    ),
  ),
  write('at-job', ': >/var/spool/cron/atjobs/ralph-escape || : >/var/spool/at/ralph-escape'),
  ...Object.entries({
    'user-unit': '.config/systemd/user/evil.service',
    autostart: '.config/autostart/evil.desktop',
    'git-xdg-config': '.config/git/config',
    'npm-config': '.npmrc',
    'cargo-config': '.cargo/config.toml',
    'pip-config': '.config/pip/pip.conf',
    'direnv-allow': '.local/share/direnv/allow/evil',
    'editor-tasks': '.config/Code/User/tasks.json',
    'login-profile': '.profile',
    'ssh-config': '.ssh/config',
  }).map(([id, name]) => plants(id, name)),
  write('program-on-path', 'echo evil >~/other-project/bin/git; exit 1', ({ has }) =>
    has('home/other-project/bin/git'),
  ),
  write('cell-config-of-ralph', 'echo x >/run/ralph/x || echo x >>/etc/gitconfig'),
  // Links, mounts and descriptors.
  write('hard-link-outside', 'ln ~/.ssh/id_rsa key || ln "$OUTSIDE/secret.txt" key'),
  state(
    'link-by-descriptor',
    py(
      "import os;f=os.open(os.environ['SPRINT']+'/SPRINT.yaml',0);os.link('/proc/self/fd/%d'%f,'hard',follow_symlinks=True)",
    ),
  ),
  state('overlay', 'mkdir -p u w; mount -t overlay x -o lowerdir=.claude,upperdir=u,workdir=w .claude'),
  state('bind-over-git', 'mkdir -p g; mount --bind g .git/hooks'),
  state('exchange-parent', py(`${lib};os.mkdir('g');raise SystemExit(l.renameat2(-100,b'.git/hooks',-100,b'g',2)!=0)`)),
  state('open-tree', call(428, -100, "b'.claude'", 1)),
  state('extended-attribute', py("import os;os.setxattr(os.environ['SPRINT']+'/SPRINT.yaml','user.x',b'x')")),
  state('touch-times', py("import os;os.utime(os.environ['SPRINT']+'/SPRINT.yaml',(1,1))")),
  proc(
    'watch-outside',
    py(`${lib};raise SystemExit(l.inotify_add_watch(l.inotify_init(),os.environ['OUTSIDE'].encode(),2)<0)`),
  ),
  proc('memory-of-outside', 'head -c1 /proc/$OUTER_PID/maps | grep . || head -c1 /proc/$OUTER_PID/environ | grep .'),
  proc('trace-outside', call(101, 16, outer, 0, 0)),
  proc('handle-of-outside', py(`import os;os.pidfd_open(${outer})`)),
  proc('priority-of-outside', py(`import os;os.setpriority(0,${outer},os.getpriority(0,${outer}))`)),
  proc('limits-of-outside', py(`import os,resource;resource.prlimit(${outer},resource.RLIMIT_NOFILE)`)),
  proc('cgroup-of-outside', 'grep -q "" /sys/fs/cgroup/cgroup.procs || mount -t cgroup2 x /tmp'),
  proc('message-queues', 'ls /dev/mqueue | grep . || mount -t mqueue x /tmp'),
  sys(
    'memory-file-set-user-id',
    py("import os;f=os.memfd_create('x');os.fchmod(f,0o4755);raise SystemExit(not os.fstat(f).st_mode&0o4000)"),
  ),
  sys('userfault-device', py("import os;os.open('/dev/userfaultfd',os.O_RDWR)")),
  sys('process-accounting', py(`${lib};raise SystemExit(l.acct(b'/tmp/x')!=0)`)),
  sys('quota', call(179, '0x80000100', 0, 0, 'b')),
  sys('secret-memory-of-kernel', call(246, 0, 0, 'b', 0)),
  sys('network-interface', 'ip link add ralph0 type dummy'),
  sys(
    'personality-32',
    py(
      `${lib};r=l.syscall(135,8);raise SystemExit(0 if r>=0 and os.uname().machine!='x86_64' and l.mount(b'x',b'/tmp',b'tmpfs',0,0)==0 else 1)`,
    ),
  ),
  // Forms of a host, and of a request.
  net(
    'dns-over-tcp',
    `timeout 20 bash -c 'exec 3<>/dev/tcp/8.8.8.8/53' || timeout 20 bash -c 'exec 3<>/dev/tcp/1.1.1.1/53'`,
  ),
  net(
    'link-local',
    py(
      "import socket\nfor n in range(2,9):\n  try: socket.socket(10,2).connect(('fe80::1',53,0,n)); raise SystemExit(0)\n  except OSError: pass\nraise SystemExit(1)",
    ),
  ),
  net(
    'proxy-longer-name',
    `${curl('http://allowed.test.evil.test:$ORIGIN_PORT/')}; exit 1`,
    isAsked('allowed.test.evil.test'),
  ),
  net('proxy-same-ending', `${curl('http://evilallowed.test:$ORIGIN_PORT/')}; exit 1`, isAsked('evilallowed.test')),
  net('proxy-last-dot', `${curl('http://inside.test.:$ORIGIN_PORT/')} | grep origin`),
  net('proxy-capitals', `${curl('http://INSIDE.test:$ORIGIN_PORT/')} | grep origin`),
  net('proxy-allowed-name-other-port', `${curl('http://allowed.test:22/')}; exit 1`, isAsked('allowed.test')),
  net('proxy-encoded-address', `${get('http://%%31%%32%%37.0.0.1:%s/secret')} | grep origin-secret`),
  net('proxy-wide-digits', `${get('http://１２７.0.0.1:%s/secret')} | grep origin-secret`),
  net('proxy-backslash', `${get('http://allowed.test:%s\\\\@127.0.0.1:%s/secret')} | grep origin-secret`),
  net('proxy-fragment', `${get('http://127.0.0.1:%s#@allowed.test:%s/secret')} | grep origin`),
  net(
    'proxy-own-form',
    `${raw(`printf 'GET /secret HTTP/1.1\\r\\nHost: 127.0.0.1:%s\\r\\nConnection: close\\r\\n\\r\\n' "$ORIGIN_PORT"`)} | grep origin`,
  ),
  net('proxy-https-form', `${get('https://127.0.0.1:%s/secret')} | grep origin`),
  net('proxy-file-form', `${get('file:///etc/hostname')} | grep -v HTTP | grep "^[a-z]"`),
  net(
    'proxy-two-lengths',
    `${raw(`printf 'POST http://allowed.test:%s/ HTTP/1.1\\r\\nHost: a\\r\\nContent-Length: 5\\r\\nContent-Length: 60\\r\\n\\r\\nabcdeGET http://127.0.0.1:%s/secret HTTP/1.1\\r\\n\\r\\n' "$ORIGIN_PORT" "$ORIGIN_PORT"`)} | grep origin-secret`,
  ),
  net(
    'proxy-folded-header',
    `${raw(`printf 'POST http://allowed.test:%s/ HTTP/1.1\\r\\nHost: a\\r\\nTransfer-Encoding:\\x0bchunked\\r\\n\\r\\n0\\r\\n\\r\\nGET /secret HTTP/1.1\\r\\nHost: a\\r\\n\\r\\n' "$ORIGIN_PORT"`)} | grep origin-secret`,
  ),
  net(
    'proxy-connect-mapped',
    `${raw(`printf 'CONNECT [::ffff:7f00:1]:%s HTTP/1.1\\r\\n\\r\\n' "$ORIGIN_PORT"`)} | grep " 200 "`,
  ),
  net(
    'proxy-connect-zone',
    `${raw(`printf 'CONNECT [::1%%25lo]:%s HTTP/1.1\\r\\n\\r\\n' "$ORIGIN_PORT"`)} | grep " 200 "`,
  ),
  net(
    'proxy-connect-nul',
    `${raw(`printf 'CONNECT allowed.test\\x00.evil.test:%s HTTP/1.1\\r\\n\\r\\n' "$ORIGIN_PORT"`)} | grep " 200 "`,
  ),
  // What Ralph starts around the next attempt.
  ...['cat', 'mkdir', 'env', 'mount', 'umount', 'pivot_root', 'setsid', 'ip', 'perl', 'sh', 'git'].map(onPath),
  ralphGit(
    'filter',
    `${nested}; git -C sub config filter.e.clean "$RAN; cat"; git -C sub config filter.e.process "$RAN"; echo "* filter=e" | tee sub/.gitattributes >.gitattributes`,
  ),
  ralphGit(
    'text-conversion',
    `${nested}; git -C sub config diff.e.textconv "$RAN; cat"; git -C sub config diff.e.command "$RAN"; git -C sub config diff.external "$RAN"; echo "* diff=e" | tee sub/.gitattributes >.gitattributes; echo y >sub/x.txt`,
  ),
  ralphGit(
    'merge-driver',
    `${nested}; git -C sub config merge.e.driver "$RAN"; echo "* merge=e" | tee sub/.gitattributes >.gitattributes`,
  ),
  ralphGit('monitor', `${nested}; git -C sub config core.fsmonitor "$RAN"; echo y >sub/x.txt`),
  ralphGit(
    'hooks-path',
    `${nested}; mkdir h; for n in pre-commit post-checkout reference-transaction post-index-change pre-auto-gc; do printf '#!/bin/sh\\n%s\\n' "$RAN" >h/$n; chmod +x h/$n; done; git -C sub config core.hooksPath "$PROJECT/h"; cp h/* sub/.git/hooks/`,
  ),
  ralphGit(
    'include',
    `${nested}; printf '[core]\\n\\tfsmonitor = %s\\n\\tpager = %s\\n\\teditor = %s\\n' "$RAN" "$RAN" "$RAN" >evil.config; git -C sub config include.path "$PROJECT/evil.config"`,
  ),
  ralphGit(
    'work-tree-setting',
    `${nested}; git -C sub config core.worktree "$HOME"; git -C sub config core.fsmonitor "$RAN"`,
  ),
  ralphGit(
    'alternates',
    `${nested}; echo "$OUTSIDE" >sub/.git/objects/info/alternates; git -C sub config core.alternateRefsCommand "$RAN"`,
  ),
  ralphGit(
    'submodule-update',
    `${nested}; printf '[submodule "sub"]\\n\\tpath = sub\\n\\turl = ./sub\\n\\tupdate = !%s\\n' "$RAN" >.gitmodules; git add sub .gitmodules`,
  ),
  ralphGit(
    'gitlink',
    `${nested}; git add sub; git -C sub config core.fsmonitor "$RAN"; git -C sub config filter.e.clean "$RAN; cat"; echo "* filter=e" >sub/.gitattributes; echo y >sub/x.txt`,
  ),
  ralphGit(
    'lazy-fetch',
    `${nested}; git -C sub config extensions.partialClone origin; git -C sub config remote.origin.url "ext::sh -c \\"$RAN\\""; git -C sub config protocol.ext.allow always; git -C sub config remote.origin.promisor true; find sub/.git/objects -type f -path "*/??/*" | head -1 | xargs rm -f`,
  ),
  ralphGit(
    'signing',
    `${nested}; git -C sub config commit.gpgSign true; git -C sub config log.showSignature true; printf '#!/bin/sh\\n%s\\n' "$RAN" >gpg; chmod +x gpg; git -C sub config gpg.program "$PROJECT/gpg"`,
  ),
  ralphGit(
    'bare-repository',
    `git init -q --bare bare; git -C bare config core.fsmonitor "$RAN"; git -C bare config core.bare false; git -C bare config core.worktree "$PROJECT"; echo "* filter=e" >bare/info/attributes`,
  ),
  ralphGit(
    'program-named-git',
    `for d in . node_modules/.bin; do mkdir -p $d; printf '#!/bin/sh\\n%s\\n' "$RAN" >$d/git; chmod +x $d/git; done`,
  ),
]
