// Ways to the network: direct, by name, by socket, through the proxy.
const net = (id, sh, outside) => ({ id, class: 'network', sh, outside })
const py = (code) => `python3 -c "${code}"`
const proxy = 'http://127.0.0.1:3128'

export const networkCases = [
  net('direct-address', `timeout 20 bash -c 'exec 3<>/dev/tcp/10.255.255.53/53'`),
  net('host-loopback', `timeout 20 bash -c "exec 3<>/dev/tcp/127.0.0.1/$ORIGIN_PORT"`),
  net('host-loopback-http', 'curl -s -m20 --noproxy "*" "http://127.0.0.1:$ORIGIN_PORT/" | grep origin'),
  net('ipv6', py("import socket;s=socket.socket(10);s.settimeout(2);s.connect(('2606:4700::1',443))")),
  net('ipv6-loopback', 'curl -s -m20 --noproxy "*" -g "http://[::1]:$ORIGIN_PORT/" | grep origin'),
  net('resolver', 'getent hosts registry.npmjs.org'),
  net('dns-packet', py("import socket;s=socket.socket(2,2);s.settimeout(2);s.sendto(b'x',('8.8.8.8',53))")),
  net(
    'dns-own-resolver',
    py(
      "import socket;s=socket.socket(2,2);s.settimeout(2);s.sendto(b'x',(open('/etc/resolv.conf').read().split('nameserver ')[1].split()[0],53))",
    ),
  ),
  net('icmp', 'ping -c1 -W1 8.8.8.8'),
  net('abstract-socket', py(String.raw`import socket,os;s=socket.socket(1);s.connect(chr(0)+os.environ['ABSTRACT'])`)),
  net('outside-socket', py("import socket,os;s=socket.socket(1);s.connect(os.environ['OUTSIDE']+'/host.sock')")),
  net('work-tree-socket', py("import socket;s=socket.socket(1);s.connect('dev.sock')")),
  net(
    'known-sockets',
    'for s in /run/docker.sock /var/run/docker.sock /run/podman/podman.sock /run/user/*/bus /run/dbus/system_bus_socket /tmp/.X11-unix/X0 "$SSH_AUTH_SOCK"; do test -S "$s" && exit 0; done; exit 1',
  ),
  net('https-other-host', 'curl -s -m20 https://example.com; exit 1', ({ asked }) => asked.includes('example.com')),
  net('http-other-host', 'curl -s -m20 http://example.com/; exit 1', ({ asked }) => asked.includes('example.com')),
  net('proxy-loopback', `curl -s -m20 --noproxy "" --proxy ${proxy} "http://127.0.0.1:$ORIGIN_PORT/" | grep origin`),
  net(
    'proxy-ipv6-loopback',
    `curl -s -m20 -g --noproxy "" --proxy ${proxy} "http://[::1]:$ORIGIN_PORT/" | grep origin`,
  ),
  net(
    'proxy-mapped-loopback',
    `curl -s -m20 -g --noproxy "" --proxy ${proxy} "http://[::ffff:127.0.0.1]:$ORIGIN_PORT/" | grep origin`,
  ),
  net('proxy-localhost', `curl -s -m20 --noproxy "" --proxy ${proxy} "http://localhost:$ORIGIN_PORT/" | grep origin`),
  net(
    'proxy-decimal-address',
    `curl -s -m20 --noproxy "" --proxy ${proxy} "http://2130706433:$ORIGIN_PORT/" | grep origin`,
  ),
  net('proxy-hex-address', `curl -s -m20 --noproxy "" --proxy ${proxy} "http://0x7f.1:$ORIGIN_PORT/" | grep origin`),
  net(
    'proxy-metadata',
    `test "$(curl -s -m20 -o /dev/null -w "%{http_code}" --proxy ${proxy} http://169.254.169.254/)" = 200`,
  ),
  net(
    'proxy-name-of-loopback',
    `curl -s -m20 --noproxy "" --proxy ${proxy} "http://inside.test:$ORIGIN_PORT/" | grep origin`,
  ),
  net(
    'proxy-other-port',
    'test "$(curl -s -m20 -o /dev/null -w "%{http_connect}" https://registry.npmjs.org:22/)" = 200',
  ),
  net(
    'proxy-connect-loopback',
    `printf 'CONNECT 127.0.0.1:%s HTTP/1.1\\r\\n\\r\\n' "$ORIGIN_PORT" | timeout 20 bash -c 'exec 3<>/dev/tcp/127.0.0.1/3128; cat >&3; head -1 <&3' | grep " 200 "`,
  ),
  net(
    'proxy-user-trick',
    `printf 'CONNECT evil.test:443@registry.npmjs.org:443 HTTP/1.1\\r\\n\\r\\n' | timeout 20 bash -c 'exec 3<>/dev/tcp/127.0.0.1/3128; cat >&3; head -1 <&3' | grep " 200 "`,
  ),
  net(
    'proxy-smuggling',
    `printf 'POST http://registry.npmjs.org/ HTTP/1.1\\r\\nHost: a\\r\\nContent-Length: 4\\r\\nTransfer-Encoding: chunked\\r\\n\\r\\n0\\r\\n\\r\\nGET http://127.0.0.1:%s/ HTTP/1.1\\r\\n\\r\\n' "$ORIGIN_PORT" | timeout 20 bash -c 'exec 3<>/dev/tcp/127.0.0.1/3128; cat >&3; cat <&3' | grep origin`,
  ),
  net(
    'proxy-host-header',
    `curl -s -m20 --noproxy "" --proxy ${proxy} -H "Host: hidden.test" "http://allowed.test:$ORIGIN_PORT/" | grep hidden.test`,
  ),
  net(
    'proxy-redirect',
    `curl -s -m20 --noproxy "" -L --proxy ${proxy} "http://allowed.test:$ORIGIN_PORT/to-loopback" | grep origin-secret`,
  ),
  net(
    'proxy-other-tls-name',
    `timeout 20 curl -sk -m20 --connect-to evil.test:$TLS_PORT:allowed.test:$TLS_PORT https://evil.test:$TLS_PORT/ | grep origin`,
  ),
  net(
    'proxy-plain-in-tunnel',
    `printf 'CONNECT public.test:443 HTTP/1.1\\r\\n\\r\\nGET / HTTP/1.1\\r\\nHost: public.test\\r\\n\\r\\n' | timeout 20 bash -c 'exec 3<>/dev/tcp/127.0.0.1/3128; cat >&3; cat <&3' | grep origin`,
  ),
  net('proxy-socket-remove', 'rm -f /run/ralph/proxy.sock; test ! -e /run/ralph/proxy.sock'),
  net('proxy-socket-replace', 'touch /run/ralph/evil'),
  net(
    'proxy-socket-direct',
    'curl -s -m20 --unix-socket /run/ralph/proxy.sock "http://127.0.0.1:$ORIGIN_PORT/" -x "" | grep origin',
  ),
  net('git-ssh', 'timeout 20 git ls-remote ssh://git@github.com/a/b'),
  net('git-protocol', 'timeout 20 git ls-remote git://github.com/git/git'),
]
