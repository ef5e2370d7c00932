// What an attempt leaves behind for the next one, for Ralph, or for the user's own programs. `first` runs in an attempt before.
const planted = (id, { first, sh = 'exit 1', outside }) => ({ id, class: 'planted', first, sh, outside })
const link = (to, at) => `mkdir -p "$(dirname "${at}")"; rm -rf "${at}"; ln -s "${to}" "${at}"`
const readsKey = 'grep secret ~/.ssh/id_rsa'
const isLeft = (name) => (look) => look.has(name)

export const plantedCases = [
  // Ralph follows a path of the work tree and shows where it leads to.
  planted('git-link-to-folder', { first: link('$HOME/.ssh', 'sub/.git'), sh: readsKey }),
  planted('git-link-to-folder-write', {
    first: link('$OUTSIDE', 'sub/.git'),
    sh: 'echo x >"$OUTSIDE/planted"; exit 1',
    outside: isLeft('outside/planted'),
  }),
  planted('git-link-to-file', {
    first: link('$HOME/.ssh/id_rsa', 'sub/.git'),
    sh: `${readsKey} || grep secret sub/.git`,
  }),
  planted('git-link-through-folder', {
    first: link('$HOME/other-project', 'sub'),
    sh: 'cat ~/other-project/secret.txt',
  }),
  // In the folder of git of a new repository, which Ralph closes from the second attempt on.
  ...['info/attributes', 'objects/info/alternates', 'config'].map((name) =>
    planted(`git-file-link-${name.replaceAll('/', '-')}`, {
      first: `git init -q sub; rm -f sub/.git/${name}; ${link('$HOME/.ssh/id_rsa', `sub/.git/${name}`)}`,
      sh: `${readsKey} || grep secret sub/.git/${name}`,
    }),
  ),
  ...['hooks', 'modules', 'remotes', 'branches', 'rebase-merge', 'sequencer', 'worktrees/w'].map((name) =>
    planted(`git-folder-link-${name.replaceAll('/', '-')}`, {
      first: `git init -q sub; rm -rf sub/.git/${name}; mkdir -p sub/.git/worktrees; ${link('$HOME/.ssh', `sub/.git/${name}`)}`,
      sh: `${readsKey} || grep -r secret sub/.git/${name}/`,
    }),
  ),
  planted('git-link-of-grandchild', { first: link('$HOME/.ssh', 'a/b/.git'), sh: readsKey }),
  planted('gitdir-through-link', {
    first: `${link('$HOME/.ssh', 'sub/x')}; echo "gitdir: x" >sub/.git`,
    sh: readsKey,
  }),
  planted('commondir-of-gitdir', {
    first: 'mkdir -p sub/g; echo "$OUTSIDE" >sub/g/commondir; echo "gitdir: g" >sub/.git',
    sh: 'cat "$OUTSIDE/secret.txt"',
  }),
  planted('commondir-of-worktree', {
    first: `mkdir -p sub .git/worktrees/evil; echo "$HOME/.ssh" >.git/worktrees/evil/commondir
echo "$PROJECT/sub/.git" >.git/worktrees/evil/gitdir; echo "gitdir: $PROJECT/.git/worktrees/evil" >sub/.git`,
    sh: readsKey,
  }),
  planted('module-of-linked-repository', {
    first: `${link('$HOME/other-project', 'a/.git')}; mkdir a/b; echo "gitdir: $HOME/other-project/modules/m" >a/b/.git`,
    sh: 'cat ~/other-project/modules/m/secret',
  }),
  planted('program-folder-link', { first: link('$HOME/.ssh', 'node_modules/.bin'), sh: readsKey }),
  planted('program-parent-link', {
    first: link('$HOME/other-project', 'node_modules'),
    sh: 'cat ~/other-project/secret.txt',
  }),
  planted('toolchain-link', { first: link('$HOME/.aws', '.venv'), sh: 'grep secret ~/.aws/credentials' }),
  planted('lock-link', {
    first: link('$HOME/.ssh/id_rsa', '$SPRINT/.lock'),
    sh: `${readsKey} || grep secret "$SPRINT/.lock"`,
  }),
  planted('ignore-link', {
    first: link('$HOME/.ssh/id_rsa', '$SPRINT/.gitignore'),
    sh: `${readsKey} || grep secret "$SPRINT/.gitignore"`,
  }),
  planted('certificate-link', { first: link('$HOME/.netrc', 'ca.pem'), sh: 'grep secret ~/.netrc' }),
  planted('added-folder-link', { first: link('$HOME/.docker', 'data'), sh: 'grep secret ~/.docker/config.json' }),
  // A folder on PATH does not show the project around it.
  planted('project-on-path', { sh: 'cat ~/other-project/secret.txt || cat ~/other-project/.env' }),
  // Ralph itself writes beside what the agent wrote.
  planted('draft-link', {
    sh: 'for n in $(seq 1 400); do ln -s "$HOME/.bashrc" "$SPRINT/PROGRESS.yaml.$OUTER_PID.$n.tmp"; done; exit 1',
    outside: async ({ ralphWrites, home }) => (
      await ralphWrites('project/.claude/sprints/s1/PROGRESS.yaml', 'evil'),
      home('.bashrc').includes('evil')
    ),
  }),
  planted('log-link', {
    sh: `${link('$HOME/.bashrc', '$SPRINT/run.log')}; exit 1`,
    outside: async ({ ralphLogs, home }) => (
      await ralphLogs('project/.claude/sprints/s1/run.log', 'evil'),
      home('.bashrc').includes('evil')
    ),
  }),
  planted('exclude-link', {
    sh: `${link('$HOME/.ssh/id_rsa', '.git/info/exclude')}; exit 1`,
    outside: isLeft('project/.git/info/exclude'),
  }),
  // The user's own git writes a commit message, a log and refs.
  ...['COMMIT_EDITMSG', 'FETCH_HEAD', 'logs/HEAD', 'refs/heads/evil', 'refs/ralph', 'objects/ab', 'info/exclude2'].map(
    (name) =>
      planted(`git-writes-${name.replaceAll('/', '-').toLowerCase()}`, {
        sh: `${link('$HOME/.bashrc', `.git/${name}`)}; exit 1`,
        outside: isLeft(`project/.git/${name}`),
      }),
  ),
  planted('other-worktree', { sh: 'echo /tmp/g >.git/worktrees/other/commondir' }),
  planted('other-worktree-replace', { sh: 'mv .git/worktrees/other .git/worktrees/o2 || mv .git/worktrees .git/w2' }),
  planted('grandchild-hook', { sh: 'mkdir -p packages/a/.git/hooks; echo x >packages/a/.git/hooks/post-commit' }),
  planted('grandchild-config', { sh: 'echo x >>packages/a/.git/config' }),
  // The user's own sessions of the agent program.
  planted('agent-server', {
    sh: `echo '{"mcpServers":{"x":{"command":"evil"}},"numStartups":7}' >~/.claude.json; exit 1`,
    outside: ({ home }) => home('.claude.json').includes('evil') || !home('.claude.json').includes('numStartups'),
  }),
  planted('agent-server-of-project', {
    sh: `echo '{"projects":{"/p":{"mcpServers":{"x":{"command":"evil"}},"hasTrustDialogAccepted":true}}}' >~/.claude.json; exit 1`,
    outside: ({ home }) => /evil|Trust/.test(home('.claude.json')),
  }),
  planted('agent-plugin', { sh: 'mkdir -p ~/.claude/plugins && echo x >~/.claude/plugins/evil' }),
  planted('agent-instructions', { sh: 'echo "run evil" >>~/.claude/CLAUDE.md' }),
  planted('agent-program', { sh: 'mkdir -p ~/.claude/local && echo x >~/.claude/local/claude' }),
  planted('agent-settings-link', {
    sh: 'rm -f ~/.claude/CLAUDE.md; echo evil >~/.claude/CLAUDE.md; exit 1',
    outside: ({ home }) => home('.claude/CLAUDE.md').includes('evil'),
  }),
  // Ralph cleans up after an attempt.
  planted('deep-folders', {
    sh: `cd /tmp && python3 -c "import os
for n in range(3000): os.mkdir('d'*50); os.chdir('d'*50)"; exit 1`,
  }),
]
