// Corners: names and links that Ralph meets after an attempt, what the kernel tells about other namespaces, devices, odd requests.
const make = (kind) => (id, sh, outside) => ({ id, class: kind, sh, outside })
const [net, sys, proc, state, read] = ['network', 'system-call', 'process', 'state', 'read'].map(make)
const deputy = (id, { first, sh = 'exit 1', outside }) => ({ id, class: 'deputy', first, sh, outside })
const py = (code) => `python3 -c "${code}"`
const lib = 'import ctypes,os;l=ctypes.CDLL(None,use_errno=True);b=ctypes.create_string_buffer(256)'
const call = (...args) => py(`${lib};raise SystemExit(l.syscall(${args.join(',')})<0)`)
const connects = (path) => py(`import socket,os;s=socket.socket(1);s.connect(${path})`)
const ask = (text) =>
  `printf '${text}' "$ORIGIN_PORT" "$ORIGIN_PORT" | timeout 20 bash -c 'exec 3<>/dev/tcp/127.0.0.1/3128; cat >&3; cat <&3' | grep origin-secret`

/** Every place in its folder into which Ralph may write: a link to a file of the user. */
const sprintFiles =
  'PROGRESS.yaml LEARNINGS.md run.log report.html report.md summary.md iterations notes transcripts/x events.jsonl result.json ralph-exit .gitignore .lock'

export const cornerCases = [
  // Sockets by other names, other namespaces.
  net('socket-by-link', `ln -s "$OUTSIDE/host.sock" s && ${connects("'s'")}`),
  net('socket-moved', `mv dev.sock d2 && ${connects("'d2'")}`),
  net('socket-hard-link', `ln dev.sock d2 && ${connects("'d2'")}`),
  net(
    'socket-by-descriptor',
    py("import socket,os;f=os.open('dev.sock',os.O_PATH);socket.socket(1).connect('/proc/self/fd/%d'%f)"),
  ),
  net('socket-seqpacket', py("import socket,os;socket.socket(1,5).connect(chr(0)+os.environ['ABSTRACT'])")),
  net('socket-datagram', py("import socket,os;socket.socket(1,2).connect(chr(0)+os.environ['ABSTRACT'])")),
  net('sockets-of-machine', 'grep -q "$ABSTRACT" /proc/net/unix'),
  net('ports-of-machine', `grep -qi ":$(printf %04X "$ORIGIN_PORT") " /proc/net/tcp`),
  net('interfaces-of-machine', 'test "$(grep -c : /proc/net/dev)" -gt 1'),
  net('neighbours-of-machine', 'tail -n +2 /proc/net/arp | grep . || tail -n +2 /proc/net/route | grep .'),
  net('multicast', py("import socket;s=socket.socket(2,2);s.sendto(b'x',('224.0.0.251',5353))")),
  net('broadcast', py("import socket;s=socket.socket(2,2);s.setsockopt(1,6,1);s.sendto(b'x',('255.255.255.255',9))")),
  net('multicast-ipv6', py("import socket;s=socket.socket(10,2);s.sendto(b'x',('ff02::fb',5353,0,0))")),
  net(
    'netlink-audit',
    py("import socket;s=socket.socket(16,3,9);s.bind((0,0));s.send(b'x'*16)") + ' && test -e /proc/self/nope',
  ),
  net('netlink-new-link', 'ip link add veth0 type veth peer name veth1 || ip route add default dev lo'),
  net('reuse-proxy-port', py("import socket;s=socket.socket();s.setsockopt(1,15,1);s.bind(('127.0.0.1',3128))")),
  // Requests.
  net('request-without-version', ask('GET http://127.0.0.1:%s/secret\\r\\n\\r\\n')),
  net(
    'request-star',
    ask(
      'OPTIONS * HTTP/1.1\\r\\nHost: 127.0.0.1:%s\\r\\n\\r\\nGET http://127.0.0.1:%s/secret HTTP/1.1\\r\\nHost: a\\r\\n\\r\\n',
    ),
  ),
  net('request-trace', ask('TRACE http://127.0.0.1:%s/secret HTTP/1.1\\r\\nHost: a\\r\\n\\r\\n')),
  net(
    'request-two-spaces',
    ask('GET http://allowed.test:%s/ http://127.0.0.1:%s/secret HTTP/1.1\\r\\nHost: a\\r\\n\\r\\n'),
  ),
  net(
    'request-chunk-size',
    ask(
      'POST http://allowed.test:%s/ HTTP/1.1\\r\\nHost: a\\r\\nTransfer-Encoding: chunked\\r\\n\\r\\n0;x=\\n\\r\\n\\r\\nGET /secret HTTP/1.1\\r\\nHost: a:%s\\r\\n\\r\\n',
    ),
  ),
  net(
    'request-expects',
    ask(
      'POST http://127.0.0.1:%s/secret HTTP/1.1\\r\\nHost: a\\r\\nExpect: 100-continue\\r\\nContent-Length: 0\\r\\n\\r\\n',
    ),
  ),
  net(
    'request-forwarded',
    ask(
      'GET http://allowed.test:%s/ HTTP/1.1\\r\\nHost: a\\r\\nX-Forwarded-Host: 127.0.0.1:%s\\r\\nX-Original-URL: /secret\\r\\n\\r\\n',
    ),
  ),
  net(
    'request-user-in-host',
    ask('GET http://a:b@127.0.0.1:%s/secret HTTP/1.1\\r\\nHost: allowed.test:%s\\r\\n\\r\\n'),
  ),
  net(
    'connect-path',
    ask(
      'CONNECT allowed.test:%s/../127.0.0.1:%s HTTP/1.1\\r\\nHost: a\\r\\n\\r\\nGET /secret HTTP/1.1\\r\\nHost: a\\r\\n\\r\\n',
    ),
  ),
  net(
    'connect-two-ports',
    ask('CONNECT 127.0.0.1:%s:443 HTTP/1.1\\r\\nHost: a\\r\\n\\r\\nGET /secret HTTP/1.1\\r\\nHost: a\\r\\n\\r\\n'),
  ),
  net(
    'connect-negative-port',
    ask('CONNECT 127.0.0.1:-1 HTTP/1.1\\r\\nHost: a:%s\\r\\n\\r\\nGET /secret HTTP/1.1\\r\\nHost: a\\r\\n\\r\\n'),
  ),
  // The kernel.
  sys('open-tree-attributes', call(467, -100, "b'.claude'", 1, 'b', 32)),
  sys('list-namespaces', call(470, 'b', 'b', 8, 0)),
  sys('mount-statistics', call(457, 'b', 'b', 256, 0) + ' && grep -q "$OUTSIDE" /proc/self/mountinfo'),
  sys('mount-table', `test "$(findmnt -no PROPAGATION / 2>/dev/null)" = shared`),
  sys('shared-mounts', 'grep -q " shared:" /proc/self/mountinfo'),
  sys('device-in-dev', 'mknod /dev/vda b 254 0 || mknod /dev/mem c 1 1'),
  sys(
    'device-files',
    'find /dev -type b | grep . || find /dev -type c ! -path "*/pts/*" | grep -Ev "/(null|zero|full|random|urandom|tty|ptmx|console)$" | grep .',
  ),
  sys('set-user-id-programs', 'command -v su mount passwd >/dev/null && su -c true </dev/null'),
  sys('capabilities', 'grep -E "^Cap(Eff|Prm|Bnd|Amb)" /proc/self/status | grep -v 0000000000000000'),
  sys('new-privileges', 'grep -q "NoNewPrivs:.0" /proc/self/status'),
  sys('no-filter', 'grep -q "Seccomp:.0" /proc/self/status'),
  sys(
    'dump-settings',
    'test -w /proc/sys/kernel/core_pattern || test -w /proc/sys/fs/suid_dumpable || test -w /proc/sys/kernel/core_uses_pid',
  ),
  sys(
    'shared-memory-of-machine',
    py(`${lib};raise SystemExit(l.shmctl(0,14,b)>0)`) + '; ipcs -m | grep -q 0x && exit 0; exit 1',
  ),
  proc('environment-of-all', `cat /proc/[0-9]*/environ 2>/dev/null | tr '\\0' '\\n' | grep -a SECRET_OUTSIDE`),
  proc(
    'command-lines-of-all',
    `cat /proc/[0-9]*/cmdline 2>/dev/null | tr '\\0' '\\n' | grep -a "conformance/[e]scapes/run"`,
  ),
  proc('links-of-all', 'ls -l /proc/[0-9]*/cwd /proc/[0-9]*/root 2>/dev/null | grep "$OUTSIDE"'),
  proc('descriptors-of-all', 'ls -l /proc/[0-9]*/fd 2>/dev/null | grep -E "$OUTSIDE|inherited|/attempts/"'),
  proc(
    'login-of-user',
    'loginctl list-sessions || systemctl --user status || busctl --user list || systemd-run --user true',
  ),
  proc('task-later', 'echo true | at now || (crontab -l; echo "* * * * * true") | crontab -'),
  read('mount-sources', 'grep -o "$OUTSIDE[^ ]*" /proc/self/mountinfo'),
  read(
    'swap-and-disks',
    'head -c1 /dev/disk/by-id/* 2>/dev/null | grep . || ls /dev/mapper /dev/dm-* 2>/dev/null | grep .',
  ),
  read('work-of-other-attempts', 'ls "$SPRINT/../s2" 2>/dev/null | grep -v SPRINT.yaml | grep .'),
  // What Ralph meets afterwards.
  deputy('sprint-links', {
    sh: `for n in ${sprintFiles}; do rm -rf "$SPRINT/$n" 2>/dev/null; mkdir -p "$(dirname "$SPRINT/$n")"; ln -s ~/.bashrc "$SPRINT/$n" 2>/dev/null; done; exit 1`,
    outside: async ({ ralphWrites, ralphLogs, home }) => {
      for (const name of sprintFiles.split(' ')) {
        await ralphWrites(`project/.claude/sprints/s1/${name}`, 'evil').catch(() => {})
        await ralphLogs(`project/.claude/sprints/s1/${name}`, 'evil').catch(() => {})
      }
      return home('.bashrc').includes('evil')
    },
  }),
  deputy('git-file-is-pipe', { first: 'mkdir sub; mkfifo sub/.git', sh: 'exit 1' }),
  deputy('git-settings-are-pipe', {
    first: 'git init -q sub; rm sub/.git/config; mkfifo sub/.git/config',
    sh: 'exit 1',
  }),
  deputy('git-settings-are-endless', {
    first: 'git init -q sub; rm sub/.git/config; ln -s /dev/zero sub/.git/config',
    sh: 'exit 1',
  }),
  deputy('git-hooks-are-file', { first: 'git init -q sub; rm -r sub/.git/hooks; touch sub/.git/hooks', sh: 'exit 1' }),
  deputy('git-links-in-circle', {
    first: 'mkdir sub; ln -s .git sub/.git; ln -s b a; ln -s a b; ln -s . loop',
    sh: 'exit 1',
  }),
  deputy('names-of-every-byte', {
    first: `mkdir sub; cd sub; ${py("import os\nfor n in range(1,256):\n  if n!=47: open(bytes([97,n]),'w').close()")}; git init -q; cd ..; mkdir "$(printf 'a\\033]0;x\\007\\377')"; git init -q "$(printf 'a\\033]0;x\\007\\377')"`,
    sh: 'exit 1',
  }),
  deputy('project-settings-are-pipe', {
    first: 'mkfifo .npmrc; mkfifo .gitmodules; mkfifo .gitattributes',
    sh: 'exit 1',
  }),
  state(
    'named-user-id',
    'chmod 4755 "$SPRINT/PROGRESS.yaml"; cp /bin/sh "$SPRINT/sh"; chmod 6755 "$SPRINT/sh"; exit 1',
    ({ setUserIds }) => setUserIds.length > 0,
  ),
  state(
    'parent-by-descriptor',
    py("import os;f=os.open('.',0);os.rename('x','y',src_dir_fd=f) if 0 else os.rename('../project','../p2')"),
  ),
  state(
    'sprint-over-mount',
    "mkdir \"$SPRINT/journal.new\" && python3 -c \"import ctypes,os;l=ctypes.CDLL(None);s=os.environ['SPRINT'].encode();raise SystemExit(l.renameat2(-100,s+b'/journal.new',-100,s+b'/journal',2)!=0)\"",
  ),
]
