// What the user's own sessions of the agent program keep, what a later command of the user would execute, and what Ralph's git meets.
const make = (kind) => (id, sh, outside) => ({ id, class: kind, sh, outside })
const [session, git, deputy] = ['session', 'git', 'deputy'].map(make)

/** A file of a session of the user that runs at the time. */
const changes = (id, name) =>
  session(id, `mkdir -p "$(dirname ~/.claude/${name})"; echo evil >>~/.claude/${name}; exit 1`, ({ home }) =>
    home(`.claude/${name}`).includes('evil'),
  )
/** A folder in `.git` in which the user's next `git rebase --continue` finds a command. */
const leavesSteps = (id, folder, file) =>
  git(id, `mkdir .git/${folder} && echo "exec touch $OUTSIDE/ran" >.git/${folder}/${file}; exit 1`, ({ has }) =>
    has(`project/.git/${folder}/${file}`),
  )
/** Ralph takes a checkpoint, compares and restores after the attempt. `$RAN` is a command that leaves a mark. */
const ralphGit = (id, sh, mark = 'ran') => ({
  id,
  class: 'ralph-git',
  sh: `RAN="touch $OUTSIDE/ran"; ${sh}; exit 1`,
  outside: async (look) => (await look.ralphCommits(), look.has(`outside/${mark}`)),
})
const nested = 'git init -q sub; echo x >sub/x.txt; git -C sub add .; git -C sub commit -qm x'
const setting = (name, value) => `\\n\\t${name} = ${value}`
const everyCommand = [
  `[core]${['pager', 'editor', 'sshCommand', 'askPass', 'gitProxy', 'alternateRefsCommand'].map((name) => setting(name, '%s')).join('')}`,
  `[sequence]${setting('editor', '%s')}`,
  `[credential]${setting('helper', '!%s')}`,
  `[diff]${setting('external', '%s')}`,
  `[interactive]${setting('diffFilter', '%s')}`,
  `[gpg]${setting('program', '%s')}`,
  `[commit]${setting('gpgSign', 'true')}`,
  `[log]${setting('showSignature', 'true')}`,
  `[tag]${setting('gpgSign', 'true')}`,
  `[pager]${setting('status', '%s')}${setting('log', '%s')}${setting('diff', '%s')}`,
  `[uploadpack]${setting('packObjectsHook', '%s')}`,
  `[remote \\"origin\\"]${setting('url', 'ext::%s')}${setting('uploadpack', '%s')}${setting('promisor', 'true')}`,
  `[submodule \\"s\\"]${setting('update', '!%s')}`,
  `[alias]${setting('status', '!%s')}${setting('add', '!%s')}`,
  `[filter \\"lfs\\"]${setting('process', '%s')}${setting('required', 'true')}`,
  `[diff \\"lfs\\"]${setting('textconv', '%s')}${setting('command', '%s')}`,
].join('\\n')

export const sessionCases = [
  changes('shell-snapshot', 'shell-snapshots/snapshot-bash-1.sh'),
  changes('session-environment', 'session-env/1/hook-0.sh'),
  changes('memory-of-other', 'projects/-other/memory/MEMORY.md'),
  changes('conversation-of-other', 'projects/-other/1.jsonl'),
  changes('memory-of-new', 'projects/-home-u-next/memory/MEMORY.md'),
  changes('instructions-local', 'CLAUDE.local.md/../rules/evil.md'),
  session('editor-token', 'cat ~/.claude/ide/1.lock'),
  session('other-conversation', 'grep -r secret ~/.claude/projects'),
  session('prompt-history', 'grep secret ~/.claude/history.jsonl'),
  session('pasted-text', 'grep -r secret ~/.claude/paste-cache'),
  session('conversations-move', 'mv ~/.claude/projects ~/.claude/p2 && mkdir ~/.claude/projects'),
  session('conversations-link', 'rmdir ~/.claude/projects/* ~/.claude/projects; ln -sT ~/.ssh ~/.claude/projects'),
  leavesSteps('rebase-steps', 'rebase-merge', 'git-rebase-todo'),
  leavesSteps('cherry-pick-steps', 'sequencer', 'todo'),
  leavesSteps('mail-steps', 'rebase-apply', 'next'),
  ralphGit(
    'every-command-setting',
    `${nested}; printf '#!/bin/sh\\ntouch %s/ran\\n' "$OUTSIDE" >sub/c; chmod +x sub/c; printf "\\n${everyCommand}\\n" | sed "s|%s|$PROJECT/sub/c|g" >>sub/.git/config; echo '* filter=lfs diff=lfs' >sub/.gitattributes; echo y >>sub/x.txt`,
  ),
  ralphGit(
    'include-if',
    `${nested}; printf '[filter "e"]\\n\\tclean = %s; cat\\n' "$RAN" >sub/inc; printf '[includeIf "gitdir:**"]\\n\\tpath = ../inc\\n[includeIf "onbranch:**"]\\n\\tpath = ../inc\\n' >>sub/.git/config; echo '* filter=e' >sub/.gitattributes`,
  ),
  ralphGit(
    'trace-target',
    `${nested}; for k in eventTarget normalTarget perfTarget; do git config -f sub/.git/config trace2.$k "$OUTSIDE/trace"; done`,
    'trace',
  ),
  ralphGit(
    'names-like-options',
    'touch -- "--output=$(basename "$OUTSIDE")" "-cfilter.x.clean=touch ran" ":(exclude)*" ":!x" "--upload-pack=ran" "@{-1}" ; git add -A; git commit -qm x',
  ),
  ralphGit(
    'refs-like-options',
    'h=$(git rev-parse HEAD); mkdir -p .git/refs/heads; for n in "--output=x" "-h" "--upload-pack=y"; do echo $h >".git/refs/heads/$n"; done; printf "ref: refs/heads/--output=x\\n" >.git/HEAD',
  ),
  ralphGit(
    'replaced-object',
    'b=$(git hash-object -w package.json); n=$(echo evil | git hash-object -w --stdin); git replace -f $b $n',
  ),
  ralphGit(
    'work-tree-bundle',
    `${nested}; git -C sub bundle create ../b.bundle --all; printf '[remote "origin"]\\n\\turl = ../b.bundle\\n[bundle]\\n\\turi = file:///b.bundle\\n' >>sub/.git/config`,
  ),
  ralphGit(
    'link-swapped-for-folder',
    'mkdir d; echo x >d/f; git add -A; git commit -qm x; rm -r d; ln -s "$OUTSIDE" d',
    'f',
  ),
  ralphGit(
    'path-of-git-in-tree',
    'b=$(echo "touch $OUTSIDE/ran" | git hash-object -w --stdin); t=$(printf "100755 blob $b\\tpost-checkout\\n" | git mktree); u=$(printf "040000 tree $t\\thooks\\n" | git mktree); v=$(printf "040000 tree $u\\t.GIT\\n" | git mktree); git update-ref HEAD $(git commit-tree -m x $v)',
  ),
  ralphGit(
    'path-upwards-in-index',
    'python3 - <<E\nimport struct,hashlib,os\nn=b"../outside/ran"\ne=struct.pack(">10I",0,0,0,0,0,0,0o100644,0,0,0)+bytes(20)+struct.pack(">H",len(n))+n\ne+=bytes(8-len(e)%8)\nd=b"DIRC"+struct.pack(">II",2,1)+e\nopen(".git/index","wb").write(d+hashlib.sha1(d).digest())\nE\ntrue',
  ),
  deputy(
    'temporary-link-removed',
    'mkdir -p /tmp/a; ln -s "$OUTSIDE" /tmp/a/l; ln -s "$OUTSIDE" /tmp/l; chmod 000 /tmp/a; exit 1',
    ({ has }) => !has('outside/secret.txt'),
  ),
  deputy(
    'progress-device',
    'rm -f "$SPRINT/PROGRESS.yaml"; ln -s /dev/zero "$SPRINT/PROGRESS.yaml"; exit 1',
    ({ ralphReads }) => ralphReads('project/.claude/sprints/s1/PROGRESS.yaml') !== undefined,
  ),
  deputy(
    'report-pipe',
    'rm -f "$ATTEMPT/told/report.json"; mkfifo "$ATTEMPT/told/report.json"; exit 1',
    ({ ralphReads }) => ralphReads('project/.claude/sprints/s1/attempts/2-1/told/report.json') !== undefined,
  ),
  deputy('report-folder-link', 'rmdir "$ATTEMPT/told"; ln -sT ~/.ralph/backend "$ATTEMPT/told" && exit 0; exit 1'),
]
