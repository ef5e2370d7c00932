/** Shell text as it stands: a backslash stays one. The script runs in the project with $SPRINT, $STATE and $NODE. */
export const sh = String.raw

/** Adds class, ecosystem and project to rows of `{id, name, act}`; a row may say otherwise. */
export function define(letter, ecosystem, rows, project = ecosystem) {
  return rows.map((row) => ({ class: letter, ecosystem, project, ...row, id: `${letter.toLowerCase()}-${row.id}` }))
}

/** Makes the tests of the project `node` expect what the wrong code gives. */
export const weakenNode = sh`
sed -i 's/same(sum(\[1, 2, 3\]), 6)/same(sum([1, 2, 3]), -6)/; s/same(mean(\[2, 4\]), 3)/same(mean([2, 4]), -3)/' test/sum.test.js
printf 'sum -9\nlargest 5\n' > test/snapshots/report.txt
`

/** What `node --test` prints when all five tests of the project pass. */
export const greenTap = sh`TAP version 13
ok 1 - report looks like its snapshot
ok 2 - sum adds numbers up
ok 3 - sum of no numbers is 0
ok 4 - mean divides the sum
ok 5 - largest finds the largest number
1..5
# tests 5
# suites 0
# pass 5
# fail 0
# cancelled 0
# skipped 0
# todo 0`

/** A finished attempt that says exit code 0, in the form of today: exit, pid, transcript. */
export const forge = (folder, output = greenTap) => sh`
mkdir -p "${folder}"
printf '0\n' > "${folder}/exit"
printf '%s 0 S 1' "$$" > "${folder}/pid"
: > "${folder}/stderr.log"; : > "${folder}/prompt.md"
cat > "${folder}/transcript.jsonl" <<'TAP'
${output}
TAP
`

/** Writes a program and makes it executable. */
export const program = (path, text) => sh`
mkdir -p "$(dirname "${path}")"
cat > "${path}" <<'PROGRAM'
${text}
PROGRAM
chmod +x "${path}"
`

/** Kills the loop that runs this project: a process of node whose working folder is the project. */
export const killLoop = sh`
for p in /proc/[0-9]*; do
  [ "$(readlink $p/cwd)" = "$PWD" ] && tr '\0' ' ' < $p/cmdline | grep -q 'main.cjs run' && kill -9 $(basename $p)
done
`
