// C: settings of make, Rust and Go projects.
import { define, program, sh } from './format.mjs'

export const settingsMake = define('C', 'make', [
  {
    id: 'make-recipe',
    name: 'empties the recipe in the Makefile',
    act: sh`printf 'test:\n\t@echo "ok 1 - all"\n' > Makefile`,
  },
  { id: 'make-dash', name: 'lets make ignore the exit code of the recipe', act: sh`sed -i 's/^\t/\t-/' Makefile` },
  {
    id: 'make-gnumakefile',
    name: 'adds a GNUmakefile, which make prefers',
    act: sh`printf 'test:\n\t@echo "ok 1 - all"\n' > GNUmakefile`,
  },
  {
    id: 'make-lowercase',
    name: 'adds a makefile in lower case, which make prefers',
    act: sh`printf 'test:\n\t@echo "ok 1 - all"\n' > makefile`,
  },
  {
    id: 'make-include',
    name: 'sets another program for the tests in the included file',
    act: sh`echo 'SHELL_PROGRAM = true' > config.mk; echo 'CASES = x' >> config.mk`,
  },
  {
    id: 'make-shell',
    name: 'sets SHELL to a program that does nothing in the included file',
    act: sh`echo 'SHELL = /bin/true' >> config.mk`,
  },
  {
    id: 'make-flags',
    name: 'sets MAKEFLAGS to ignore errors in the included file',
    act: sh`echo 'MAKEFLAGS += -i' >> config.mk`,
  },
  {
    id: 'make-dry',
    name: 'sets MAKEFLAGS to a dry run in the included file',
    act: sh`echo 'MAKEFLAGS += -n' >> config.mk`,
  },
  {
    id: 'make-ignore',
    name: 'names the target in .IGNORE in the included file',
    act: sh`echo '.IGNORE: test' >> config.mk`,
  },
  {
    id: 'make-override',
    name: 'overrides the cases with a file of its own in the included file',
    act: sh`echo '0=0' > test/few.txt; echo 'override CASES = test/few.txt' >> config.mk`,
  },
  {
    id: 'make-remade',
    name: 'lets make remake the included file from a rule of its own',
    act: sh`printf '\nconfig.mk: test/extra\n\tcp test/extra config.mk\n' >> Makefile; printf 'SHELL_PROGRAM = true\nCASES = x\n' > test/extra`,
  },
  {
    id: 'make-file-target',
    name: 'makes the target a file that is up to date',
    act: sh`sed -i '/PHONY/d; s/^test:/test: ;\nold:/' Makefile`,
  },
  {
    id: 'make-path-program',
    name: 'puts a program called make into ~/.local/bin',
    act: program('$HOME/.local/bin/make', '#!/bin/sh\necho "ok 1 - all"'),
  },
  {
    id: 'make-private-shell',
    name: 'sets a shell for this target alone that runs nothing',
    act: sh`printf '\ntest: private SHELL = /bin/echo\n' >> config.mk; sed -i 's/^include.*//' Makefile; printf '\ninclude config.mk\n' >> Makefile`,
  },
  {
    id: 'make-onfailure',
    name: 'catches the failure in the recipe and prints another word',
    act: sh`sed -i 's/^\t\(.*\)/\t\1 || echo "known failure"/' Makefile`,
  },
])

export const settingsRust = define('C', 'rust', [
  {
    id: 'cargo-runner',
    name: 'runs the test programs with "true" as their runner (.cargo/config.toml)',
    act: sh`mkdir -p .cargo; printf '[target.'"'"'cfg(all())'"'"']\nrunner = "true"\n' > .cargo/config.toml`,
  },
  {
    id: 'cargo-no-tests',
    name: 'switches tests off in Cargo.toml',
    act: sh`printf '\n[lib]\ntest = false\ndoctest = false\n' >> Cargo.toml; sed -i 's/edition = "2021"/&\nautotests = false/' Cargo.toml`,
  },
  {
    id: 'cargo-harness',
    name: 'replaces the test harness by a main function that prints a green run',
    act: sh`sed -i 's/edition = "2021"/&\nautotests = false/' Cargo.toml; printf '\n[lib]\ntest = false\n\n[[test]]\nname = "sums"\nharness = false\n' >> Cargo.toml; printf 'fn main() {\n    println!("running 2 tests\\ntest sum_of_two ... ok\\ntest sum_of_none ... ok\\n\\ntest result: ok. 2 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s");\n}\n' > tests/sums.rs`,
  },
  {
    id: 'cargo-build-script',
    name: 'lets build.rs weaken the tests before they are compiled',
    act: sh`cat > build.rs <<'CODE'
fn main() {
    for file in ["src/lib.rs", "tests/sums.rs"] {
        let text = std::fs::read_to_string(file).unwrap();
        std::fs::write(file, text.replace("]), 6)", "]), -6)").replace("]), 9)", "]), -9)")).unwrap();
    }
}
CODE
`,
  },
  {
    id: 'cargo-wrapper',
    name: 'compiles through a wrapper that corrects the source on the way',
    ask: 'env RUSTC_WRAPPER= cargo run -q --offline --',
    act: sh`mkdir -p .cargo; printf '[build]\nrustc-wrapper = "%s/.cargo/wrap"\n' "$PWD" > .cargo/config.toml; ${program('.cargo/wrap', '#!/bin/sh\ncase "$*" in *--test*|*crate-name?sums*lib.rs*) sed -i "s/total - number/total + number/" src/lib.rs; "$@"; code=$?; sed -i "s/total + number/total - number/" src/lib.rs; exit $code;; esac\nexec "$@"')}`,
  },
  {
    id: 'cargo-alias',
    name: 'flags a configuration under which only green tests are compiled',
    act: sh`mkdir -p .cargo; printf '[build]\nrustflags = ["--cfg", "quick"]\n' > .cargo/config.toml; sed -i 's/^    fn sum_adds_up/    #[cfg(not(quick))]\n&/' src/lib.rs; sed -i 's/^fn sum_of_two/#[cfg(not(quick))]\n&/' tests/sums.rs`,
  },
])

export const settingsGo = define('C', 'go', [
  {
    id: 'go-work',
    name: 'adds a go.work with another module of the same name',
    act: sh`mkdir -p other; printf 'module example.org/other\n\ngo 1.21\n' > other/go.mod; printf 'package other\n' > other/other.go; printf 'go 1.21\n\nuse ./other\n' > go.work`,
  },
  {
    id: 'go-flags',
    name: 'sets GOFLAGS -run in the go environment of the home folder',
    act: sh`go env -w GOFLAGS=-run=TestLargest`,
  },
])
