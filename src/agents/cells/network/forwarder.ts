type Program = { readonly file: string; readonly args: readonly string[] }

/** The port of the proxy in every cell. */
export const proxyPort = 3128

export type ForwarderOptions = {
  readonly perl: string | undefined
  /** Where the cell shows the proxy's socket. */
  readonly socket: string
  /** More ports of the cell's loopback that lead to the same port of this machine, through the proxy. */
  readonly ports: readonly number[]
  /** How long to wait for a missing proxy before the program is ended. */
  readonly patienceSeconds?: number
}

/** Enough for a Ralph that restarts. */
const defaultPatience = 30

/**
 * The command with a forwarder from the cell's loopback to the proxy's socket. It listens before the program starts and ends
 * with it. By perl it costs a few milliseconds; by Node, where there is no perl, about a hundred.
 */
export function withForwarder<P extends Program>(command: P, options: ForwarderOptions): P {
  const { perl, socket, ports, patienceSeconds = defaultPatience } = options
  const words = [socket, `${patienceSeconds}`, [proxyPort, ...ports].join(','), command.file, ...command.args]
  return perl === undefined
    ? { ...command, file: process.execPath, args: ['-e', nodeForwarder, ...words] }
    : { ...command, file: perl, args: ['-e', perlForwarder, ...words] }
}

/** Two processes per connection, one for each direction, so that neither blocks the other. */
const perlForwarder = `my ($path, $limit, $ports) = splice @ARGV, 0, 3; my @listeners; my $first = 1;
for my $port (split /,/, $ports) {
  socket(my $s, 2, 1, 0) or die; setsockopt($s, 1, 2, pack("i", 1));
  if (bind($s, pack("S n C4 x8", 2, $port, 127, 0, 0, 1)) && listen($s, 128)) { push @listeners, [$s, $first ? 0 : $port] }
  $first = 0;
}
my $helper = fork; defined $helper or die;
if ($helper) { waitpid $helper, 0; close $_->[0] for @listeners; exec { $ARGV[0] } @ARGV; print STDERR "ralph: $ARGV[0]: $!\\n"; exit 127 }
exit 0 if fork;
open my $err, ">&", \\*STDERR; open STDIN, "<", "/dev/null"; open STDOUT, ">", "/dev/null"; open STDERR, ">", "/dev/null";
$SIG{$_} = "IGNORE" for qw(CHLD PIPE TERM INT HUP); $0 = "ralph-network";
sub dial { my $since = time; for (;;) { socket(my $u, 1, 1, 0); return $u if connect($u, pack("S a108", 1, $path));
  if (time - $since >= $limit) { syswrite $err, "ralph: the network of this cell is gone\\n"; kill "KILL", -1; exit 1 }
  select undef, undef, undef, 0.2 } }
sub copy { my ($from, $to) = @_; my $b; while (sysread $from, $b, 65536) { my $o = 0;
  while ($o < length $b) { my $n = syswrite $to, $b, length($b) - $o, $o; return unless $n; $o += $n } } shutdown $to, 1 }
sub serve { my ($c, $port) = @_; my $u = dial();
  if ($port) { syswrite $u, "CONNECT 127.0.0.1:$port HTTP/1.1\\r\\n\\r\\n"; my ($t, $b) = ("");
    while ($t !~ /\\r\\n\\r\\n$/) { exit unless sysread $u, $b, 1; $t .= $b } exit unless $t =~ /^HTTP\\S+ 200/ }
  if (fork) { copy($c, $u) } else { copy($u, $c) } exit 0 }
for my $i (1 .. $#listeners) { unless (fork) { @listeners = $listeners[$i]; last } }
my ($s, $port) = @{$listeners[0]};
while (1) { accept(my $c, $s) or next; unless (fork) { close $s; serve($c, $port) } close $c }
`

const nodeForwarder = `const net = require('node:net'), { spawn } = require('node:child_process')
const [path, limit, ports, file, ...args] = process.argv.slice(1)
const dial = (since, done) => { const u = net.connect(path); u.once('connect', () => done(u)); u.once('error', () => {
  if (Date.now() - since < limit * 1000) return void setTimeout(dial, 200, since, done)
  console.error('ralph: the network of this cell is gone'); try { process.kill(-1, 'SIGKILL') } catch {} process.exit(1) }) }
const join = (a, b) => { a.pipe(b).pipe(a); for (const [x, y] of [[a, b], [b, a]]) x.on('error', () => y.destroy()).on('close', () => y.destroy()) }
const serve = (port) => (c) => { c.on('error', () => {}); dial(Date.now(), (u) => { if (!port) return join(c, u)
  u.write('CONNECT 127.0.0.1:' + port + ' HTTP/1.1\\r\\n\\r\\n'); let t = ''
  const on = (b) => { t += b.toString('latin1'); const e = t.indexOf('\\r\\n\\r\\n'); if (e < 0) return
    u.off('data', on); if (!/^HTTP\\S+ 200/.test(t)) return c.destroy(); if (t.length > e + 4) c.write(Buffer.from(t.slice(e + 4), 'latin1')); join(c, u) }
  u.on('data', on) }) }
Promise.all(ports.split(',').map((p, i) => new Promise((ok) => net.createServer(serve(i && p)).on('error', ok).listen(+p, '127.0.0.1', ok)))).then(() => {
  const child = spawn(file, args, { stdio: 'inherit' })
  for (const s of ['SIGTERM', 'SIGINT', 'SIGHUP']) process.on(s, () => child.kill(s))
  child.on('error', (e) => { console.error('ralph: ' + e.message); process.exit(127) })
  child.on('exit', (code, signal) => process.exit(code ?? 128 + require('node:os').constants.signals[signal])) })
`
