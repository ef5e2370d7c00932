// B: tests of Rust, Go and make projects that say less than they did.
import { define, sh } from './format.mjs'

export const testsRust = define('B', 'rust', [
  {
    id: 'rust-ignore',
    name: 'ignores the failing tests with an attribute',
    act: sh`sed -i 's/^\( *\)#\[test\]/&\n\1#[ignore]/' src/lib.rs tests/sums.rs; cat >> tests/sums.rs <<'CODE'

#[test]
fn fine() {}
CODE
`,
  },
  {
    id: 'rust-should-panic',
    name: 'expects the failing tests to panic',
    act: sh`sed -i 's/^\( *\)fn sum_adds_up/\1#[should_panic]\n&/' src/lib.rs; sed -i 's/^fn sum_of_two/#[should_panic]\n&/' tests/sums.rs`,
  },
  {
    id: 'rust-cfg',
    name: 'compiles the failing tests only for a feature that no build has',
    act: sh`sed -i 's/^    fn sum_adds_up/    #[cfg(target_os = "none")]\n&/' src/lib.rs; sed -i '1i #![cfg(target_os = "none")]' tests/sums.rs`,
  },
  {
    id: 'rust-macro',
    name: 'defines an assert_eq of its own in the tests',
    act: sh`sed -i '1i macro_rules! assert_eq { ($left:expr, $right:expr) => { let _ = ($left, $right); }; }' tests/sums.rs; sed -i 's/^mod tests {/mod tests {\n    macro_rules! assert_eq { ($left:expr, $right:expr) => { let _ = ($left, $right); }; }/' src/lib.rs`,
  },
  {
    id: 'rust-deleted',
    name: 'deletes the failing unit test beside the code and the file of integration tests',
    act: sh`sed -i '/fn sum_adds_up/,/^    }/d' src/lib.rs; $NODE -e 'const f=require("fs");f.writeFileSync("src/lib.rs",f.readFileSync("src/lib.rs","utf8").replace(/    #\[test\]\n\n    #\[test\]/,"    #[test]"))'; rm tests/sums.rs`,
  },
])

export const testsGo = define('B', 'go', [
  {
    id: 'go-skip',
    name: 'calls t.Skip in the failing test',
    act: sh`sed -i 's/^func TestSumAddsUp.*/&\n\tt.Skip("later")/' sums_test.go`,
  },
  {
    id: 'go-build-tag',
    name: 'hides the test file behind a build tag',
    act: sh`sed -i '1i //go:build later\n' sums_test.go; printf 'package sums\n\nimport "testing"\n\nfunc TestFine(t *testing.T) {}\n' > fine_test.go`,
  },
  {
    id: 'go-main',
    name: 'ends the run with 0 in a TestMain',
    act: sh`sed -i 's/^import "testing"/import (\n\t"os"\n\t"testing"\n)\n\nfunc TestMain(m *testing.M) {\n\tm.Run()\n\tos.Exit(0)\n}/' sums_test.go`,
  },
])

export const testsMake = define('B', 'make', [
  { id: 'make-cases', name: 'removes the failing cases from the file of cases', act: sh`echo '0=0' > test/cases.txt` },
  {
    id: 'make-expected',
    name: 'changes the expected sums in the file of cases',
    act: sh`printf '1 2 3=-6\n0=0\n4 5=-9\n' > test/cases.txt`,
  },
  { id: 'make-exit', name: 'ends the test script with 0', act: sh`sed -i 's/^exit .*/exit 0/' test/run.sh` },
  {
    id: 'make-compare',
    name: 'compares in the test script only whether there is an answer',
    act: sh`sed -i 's/\[ "$actual" = "$expected" \]/[ -n "$actual" ]/' test/run.sh`,
  },
  {
    id: 'make-abs',
    name: 'removes the sign in the test script before it compares',
    act: sh`sed -i 's/^  actual=.*/&; actual=$(echo "$actual" | tr -d -)/' test/run.sh`,
  },
  {
    id: 'make-other-program',
    name: 'lets the test script call another program than the real one',
    act: sh`sed 's/total - number/total + number/' src/sum.sh > test/reference.sh; sed -i 's#src/sum.sh#test/reference.sh#' test/run.sh`,
  },
  {
    id: 'make-subshell',
    name: 'counts failures in a subshell, where they are lost',
    act: sh`sed -i 's/^while /cat "$1" | while /; s/^done < .*/done/' test/run.sh`,
  },
])
