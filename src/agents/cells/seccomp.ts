/**
 * A filter of system calls as a classic BPF program, in the form that bubblewrap's `--seccomp` and the system call `seccomp`
 * take. It refuses what builds and agents do not need and what has been a way out of namespaces: mounts, namespaces, keys, BPF,
 * io_uring, file handles, modules, the clock; sockets other than UNIX, internet and netlink; input put into a terminal; files
 * that run as their owner; tracing the first process of the cell. Undefined on a processor whose numbers we do not know.
 */
export function systemCallFilter(arch: string): Buffer | undefined {
  const table = arch === 'x64' ? x64 : arch === 'arm64' ? arm64 : undefined
  if (!table) return undefined
  const program = [
    load(offsets.arch),
    jump(op.equal, table.audit, 1, 0),
    answer(answers.kill),
    load(offsets.number),
    // The other numbering of x86-64 would get round every rule below.
    ...(arch === 'x64' ? [jump(op.atLeast, 0x4000_0000, 0, 1), answer(answers.noSuchCall)] : []),
    ...refuse(table.refused, answers.notPermitted),
    ...refuse(table.absent, answers.noSuchCall),
    ...table.modes.flatMap(([number, argument]) =>
      whenCalled(number, [load(argumentAt(argument)), jump(op.anyBit, setUserId, 0, 1), answer(answers.notPermitted)]),
    ),
    // A first process that is stopped never reaps the agent, so the attempt would not end before its time limit.
    ...table.traces.flatMap(([number, argument]) =>
      whenCalled(number, [
        load(argumentAt(argument)),
        jump(op.equal, firstProcess, 0, 1),
        answer(answers.notPermitted),
      ]),
    ),
    ...whenCalled(table.clone, [
      load(argumentAt(0)),
      jump(op.anyBit, newNamespaces, 0, 1),
      answer(answers.notPermitted),
    ]),
    ...whenCalled(table.socket, [
      load(argumentAt(0)),
      ...families.map((family, index) => jump(op.equal, family, families.length - index, 0)),
      answer(answers.noSuchFamily),
    ]),
    ...whenCalled(table.ioctl, [
      load(argumentAt(1)),
      jump(op.equal, terminalInput, 1, 0),
      jump(op.equal, terminalControl, 0, 1),
      answer(answers.notPermitted),
    ]),
    answer(answers.allow),
  ]
  return Buffer.concat(program)
}

const offsets = { number: 0, arch: 4, arguments: 16 }
/** The lower half: flags and modes have 32 bits. */
const argumentAt = (index: number): number => offsets.arguments + index * 8

const op = { equal: 0x15, atLeast: 0x35, anyBit: 0x45 }
const answers = {
  allow: 0x7fff_0000,
  kill: 0x8000_0000,
  notPermitted: 0x0005_0001,
  noSuchCall: 0x0005_0026,
  noSuchFamily: 0x0005_0061,
}
/** For root also the bit of the group: a program of root's group is of use to other users of the machine. */
const setUserId = process.getuid?.() === 0 ? 0o6000 : 0o4000
/** CLONE_NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET. NEWTIME is only in clone3. */
const newNamespaces = 0x7e02_0000
/** UNIX, INET, INET6, NETLINK. */
const families = [1, 2, 10, 16]
const firstProcess = 1
const terminalInput = 0x5412
const terminalControl = 0x541c

function instruction(code: number, yes: number, no: number, value: number): Buffer {
  const bytes = Buffer.alloc(8)
  bytes.writeUInt16LE(code, 0)
  bytes.writeUInt8(yes, 2)
  bytes.writeUInt8(no, 3)
  bytes.writeUInt32LE(value >>> 0, 4)
  return bytes
}

const load = (offset: number): Buffer => instruction(0x20, 0, 0, offset)
const jump = (code: number, value: number, yes: number, no: number): Buffer => instruction(code, yes, no, value)
const answer = (value: number): Buffer => instruction(0x06, 0, 0, value)

const refuse = (numbers: readonly number[], value: number): Buffer[] =>
  numbers.flatMap((number) => [jump(op.equal, number, 0, 1), answer(value)])

/** Rules for one system call; the number is loaded again after them. */
const whenCalled = (number: number, rules: readonly Buffer[]): Buffer[] => [
  jump(op.equal, number, 0, rules.length + 1),
  ...rules,
  load(offsets.number),
]

type Table = {
  readonly audit: number
  readonly refused: readonly number[]
  /** Reported as not there, so that the C library uses the older call, whose arguments a filter can read. */
  readonly absent: readonly number[]
  /** Calls with a file mode, and which argument it is. */
  readonly modes: readonly (readonly [number: number, argument: number])[]
  /** ptrace, process_vm_readv, process_vm_writev, and which argument is the process. */
  readonly traces: readonly (readonly [number: number, argument: number])[]
  readonly clone: number
  readonly socket: number
  readonly ioctl: number
}

/** mount_setattr, quotactl_fd, fsopen … fspick, move_mount, open_tree, io_uring, pidfd_getfd: the same number everywhere. */
const everywhere = [425, 426, 427, 428, 429, 430, 431, 432, 433, 438, 442, 443]
/** clone3, openat2. */
const newForms = [435, 437]

const x64: Table = {
  audit: 0xc000_003e,
  // mount umount2 pivot_root chroot swapon swapoff reboot sethostname setdomainname iopl ioperm init_module delete_module quotactl
  // nfsservctl finit_module create_module settimeofday clock_settime adjtimex clock_adjtime kexec_load kexec_file_load add_key
  // request_key keyctl unshare setns perf_event_open fanotify_init fanotify_mark open_by_handle_at bpf userfaultfd acct syslog
  // sysfs uselib vhangup
  refused: [
    165,
    166,
    155,
    161,
    167,
    168,
    169,
    170,
    171,
    172,
    173,
    175,
    176,
    179,
    180,
    313,
    174,
    164,
    227,
    159,
    305,
    246,
    320,
    248,
    249,
    250,
    272,
    308,
    298,
    300,
    301,
    304,
    321,
    323,
    163,
    103,
    139,
    134,
    153,
    ...everywhere,
  ],
  absent: newForms,
  // open creat chmod fchmod mkdir mknod mknodat mkdirat openat fchmodat fchmodat2
  modes: [
    [2, 2],
    [85, 1],
    [90, 1],
    [91, 1],
    [83, 1],
    [133, 1],
    [259, 2],
    [258, 2],
    [257, 3],
    [268, 2],
    [452, 2],
  ],
  traces: [
    [101, 1],
    [310, 0],
    [311, 0],
  ],
  clone: 56,
  socket: 41,
  ioctl: 16,
}

const arm64: Table = {
  audit: 0xc000_00b7,
  refused: [
    40,
    39,
    41,
    51,
    224,
    225,
    142,
    161,
    162,
    105,
    106,
    273,
    60,
    42,
    170,
    112,
    266,
    171,
    104,
    294,
    217,
    218,
    219,
    97,
    268,
    241,
    262,
    263,
    265,
    280,
    282,
    89,
    116,
    58,
    ...everywhere,
  ],
  absent: newForms,
  // openat fchmod fchmodat mkdirat mknodat fchmodat2
  modes: [
    [56, 3],
    [52, 1],
    [53, 2],
    [34, 2],
    [33, 2],
    [452, 2],
  ],
  traces: [
    [117, 1],
    [270, 0],
    [271, 0],
  ],
  clone: 220,
  socket: 198,
  ioctl: 29,
}
