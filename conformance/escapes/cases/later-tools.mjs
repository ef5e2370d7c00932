// What the user's tools meet in the project after a sprint: repositories, hooks and settings that an agent left or changed there.
const userGit = (id, sh, first) => ({
  id,
  class: 'user-git',
  first: first && `RAN="touch $OUTSIDE/ran"; ${first}`,
  sh: `RAN="touch $OUTSIDE/ran"; ${sh}; exit 1`,
  outside: async (look) => (await look.userWorks(), look.has('outside/ran')),
})
/** A file of the project that the user's own tools obey. */
const setting = (name) => ({
  id: `new-${name.replaceAll(/[^a-z]+/g, '-').replace(/^-/, '')}`,
  class: 'state',
  sh: `mkdir -p "$(dirname ${name})"; echo evil >${name}; exit 1`,
  outside: ({ has }) => has(`project/${name}`),
})
const leaves = (id, sh, name, first) => ({
  id,
  class: 'git',
  first,
  sh: `${sh}; exit 1`,
  outside: ({ has }) => has(`project/${name}`),
})
const nested = 'git init -q sub; echo x >sub/x.txt; git -C sub add .; git -C sub commit -qm x'
const monitor = (folder) => `git -C ${folder} config core.fsmonitor "$RAN; false"`
const hook = (folder, name) =>
  `mkdir -p ${folder}; printf "#!/bin/sh\\n$RAN\\n" >${folder}/${name}; chmod +x ${folder}/${name}`
const bare = (folder) =>
  `mkdir -p ${folder}/objects ${folder}/refs; echo ref: refs/heads/x >${folder}/HEAD; printf "[core]\\nrepositoryformatversion = 0\\nbare = false\\nworktree = .\\nfsmonitor = \\"$RAN; false\\"\\n" >${folder}/config; touch ${folder}/x.txt`
const manyFolders = 'for n in $(seq 1 40); do mkdir -p m$n; (cd m$n; mkdir $(seq 1 40)); done'
/** A folder with a line break in its name, so that a list of names in lines seems to have the path behind it too. */
const behindBreak = (before, path) => `n=$(printf '${before}\\nx'); n=\${n%x}; mkdir -p "$n${path}"`

export const laterToolCases = [
  // A repository that is not in the index yet: the user adds all files, and looks at the state.
  userGit('untracked-repository', `${nested}; ${monitor('sub')}`),
  userGit('untracked-repository-hook', `${nested}; ${hook('sub/.git/hooks', 'post-index-change')}`),
  userGit(
    'untracked-repository-filter',
    `${nested}; git -C sub config filter.e.clean "$RAN; cat"; echo '* filter=e' >sub/.gitattributes; sleep 1; echo y >sub/x.txt`,
  ),
  userGit(
    'untracked-repository-include',
    `${nested}; printf "[core]\\n\\tfsmonitor = $RAN; false\\n" >inc; git -C sub config include.path "$PROJECT/inc"`,
  ),
  userGit(
    'untracked-repository-hooks-path',
    `${nested}; ${hook('h', 'post-index-change')}; git -C sub config core.hooksPath "$PROJECT/h"`,
  ),
  userGit(
    'untracked-repository-elsewhere',
    `${nested}; ${monitor('sub')}; mv sub/.git g; echo "gitdir: ../g" >sub/.git`,
  ),
  userGit(
    'untracked-repository-deep',
    `${manyFolders}; mkdir -p a/b/c/d/e; cd a/b/c/d/e; ${nested}; ${monitor('sub')}`,
  ),
  userGit('untracked-repository-in-modules', `mkdir -p node_modules; cd node_modules; ${nested}; ${monitor('sub')}`),
  userGit('untracked-repository-of-earlier-attempt', 'true', `${nested}; ${monitor('sub')}`),
  userGit(
    'untracked-repository-worktree-settings',
    `${nested}; git -C sub config extensions.worktreeConfig true; git -C sub config --worktree core.fsmonitor "$RAN; false"`,
  ),
  userGit(
    'untracked-repository-common',
    `${nested}; cp -r sub/.git g; ${monitor('sub')}; mv sub/.git evil; cp -r g sub/.git; echo "$PROJECT/evil" >sub/.git/commondir`,
  ),
  userGit(
    'untracked-worktree',
    `git worktree add -q -b w w 2>/dev/null || :; git config -f .git/worktrees/w/config.worktree core.fsmonitor "$RAN; false"`,
  ),
  // What a first attempt leaves so that it looks harmless, and a second one fills.
  userGit('repository-was-empty', `${nested}; ${monitor('sub')}`, 'mkdir -p sub/.git'),
  userGit('repository-was-pipe', `rm sub/.git; ${nested}; ${monitor('sub')}`, 'mkdir sub; mkfifo sub/.git'),
  userGit(
    'repository-was-missing',
    `${nested}; ${monitor('sub')}; mv sub/.git g; rm -r sub; echo x >s/x.txt`,
    'mkdir s; echo "gitdir: ../g" >s/.git',
  ),
  userGit(
    'repository-was-elsewhere',
    `${monitor('sub')} || git config -f g/config core.fsmonitor "$RAN; false"`,
    `${nested}; mv sub/.git g; echo "gitdir: ../g" >sub/.git`,
  ),
  userGit(
    'repository-had-no-objects',
    `mv sub/.git/o sub/.git/objects; ${monitor('sub')}`,
    `${nested}; rm -r sub/.git/config sub/.git/hooks; mv sub/.git/objects sub/.git/o`,
  ),
  userGit(
    'repository-had-linked-settings',
    `git config -f cfg core.fsmonitor "$RAN; false"; rm -f sub/.git/config; cp cfg sub/.git/config`,
    `${nested}; mv sub/.git/config cfg; ln -s ../../cfg sub/.git/config`,
  ),
  userGit(
    'repository-had-linked-hooks',
    `${hook('h', 'post-index-change')}; rm -f sub/.git/hooks; ${hook('sub/.git/hooks', 'post-index-change')}`,
    `${nested}; rm -r sub/.git/hooks; mkdir h; ln -s ../../h sub/.git/hooks`,
  ),
  userGit(
    'repository-was-missing-with-hook',
    `${nested}; ${hook('sub/.git/hooks', 'post-index-change')}; mv sub/.git g; rm -r sub; echo x >s/x.txt`,
    'mkdir s; echo "gitdir: ../g" >s/.git',
  ),
  userGit(
    'repository-was-elsewhere-with-hook',
    hook('g/hooks', 'post-index-change'),
    `${nested}; mv sub/.git g; echo "gitdir: ../g" >sub/.git`,
  ),
  // Links of the user by which git finds its hooks.
  userGit('linked-hook', 'echo "$RAN" >>scripts/linked.sh'),
  userGit('linked-hook-replaced', `rm -f scripts/linked.sh; ${hook('scripts', 'linked.sh')}`),
  userGit('linked-hook-missing', hook('scripts', 'missing.sh')),
  userGit('linked-hooks', hook('githooks', 'post-index-change')),
  userGit(
    'linked-hooks-link-replaced',
    `rm third/party/own/.git/hooks; ${hook('third/party/own/.git/hooks', 'post-index-change')}`,
  ),
  userGit('linked-settings', 'git config -f own.config core.fsmonitor "$RAN; false"'),
  userGit(
    'linked-settings-link-replaced',
    `rm lib/a/b/c/own/.git/config; git config -f lib/a/b/c/own/.git/config core.fsmonitor "$RAN; false"`,
  ),
  // A folder that is itself a repository without a work tree, or seems to be one.
  userGit('bare-project', `rm -rf .git/HEAD; ${bare('.')}`),
  userGit('bare-project-of-two', `rm -rf .git/HEAD .git/refs; git init -q --bare b; cp -r b/* .; ${bare('.')}`),
  userGit('bare-folder', bare('src')),
  userGit('bare-folder-ignored', `echo src >.gitignore; ${bare('src')}; echo src >>.git/info/exclude`),
  userGit('bare-folder-deep', `${manyFolders}; ${bare('a/b/c/d/e/f')}; mkdir -p src; mv a src`),
  userGit('bare-folder-committed', `${bare('src')}; git add -f src/HEAD; git commit -qm x`),
  userGit(
    'bare-folder-of-earlier-attempt',
    `${bare('src')}`,
    'mkdir -p src/objects src/refs; git -C . rev-parse HEAD >src/HEAD',
  ),
  userGit(
    'bare-folder-linked',
    `mkdir o r; ${bare('src')}; rmdir src/objects src/refs; ln -s ../o src/objects; ln -s ../r src/refs`,
  ),
  // What the user's configuration names in the project.
  userGit('included-settings', `printf "[core]\\n\\tfsmonitor = $RAN; false\\n" >>.gitconfig`),
  userGit('included-settings-replaced', `printf "[core]\\n\\tfsmonitor = $RAN; false\\n" >n; mv n .gitconfig`),
  userGit('included-settings-missing', `printf "[core]\\n\\tfsmonitor = $RAN; false\\n" >.gitconfig.local`),
  userGit('hooks-of-project', `printf "$RAN\\n" >>.husky/_/pre-commit`),
  userGit('hooks-of-project-new', hook('.husky/_', 'post-index-change')),
  userGit('hooks-of-project-moved', `mv .husky h2 && ${hook('.husky/_', 'pre-commit')}`),
  userGit('hooks-of-project-called', `printf "$RAN\\n" >>.husky/pre-commit`),
  // Names with line breaks in the list of what was there before.
  leaves(
    'names-with-newline-folder',
    'echo "$PROJECT/evil" >.git/commondir',
    '.git/commondir',
    `${behindBreak('y', '$PROJECT/.git')}; touch "$n$PROJECT/.git/commondir"`,
  ),
  userGit(
    'names-with-newline-submodule',
    'git add sub',
    `${nested}; ${monitor('sub')}; mkdir -p "$(printf 'x\\nsubmodule ')$PROJECT/sub/.git"`,
  ),
  userGit('deep-repository-behind-folders', `${monitor('third/party/own')}`, manyFolders),
  userGit('far-repository-behind-folders', `cd lib/a/b/c/own && ${monitor('.')}`, manyFolders),
  userGit('far-repository-hook-behind-folders', hook('lib/a/b/c/own/.git/hooks', 'post-index-change'), manyFolders),
  leaves(
    'link-behind-many-names',
    'for d in a b c d; do mkdir -p .git/logs/refs/$d .git/$d; (cd .git/logs/refs/$d; seq 1 30000 | xargs touch); (cd .git/$d; seq 1 30000 | xargs touch); done; mkdir -p .git/logs/refs/heads; rm -f .git/logs/refs/heads/evil; ln -s ~/.bashrc .git/logs/refs/heads/evil',
    '.git/logs/refs/heads/evil',
  ),
  leaves(
    'left-lock-of-branch',
    'touch .git/refs/heads/master.lock .git/refs/heads/main.lock',
    '.git/refs/heads/main.lock',
  ),
  // Settings that are not there yet, which the user's own programs may obey without a question. Not of others, such as direnv
  // and VS Code, which ask before they obey the files of a folder.
  ...[
    '.gemini/settings.json',
    '.opencode/plugin/x.js',
    'opencode.json',
    '.cursor/mcp.json',
    '.cursor/hooks.json',
    '.qwen/settings.json',
    '.amp/settings.json',
  ].map(setting),
]
