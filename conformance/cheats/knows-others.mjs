// D: Python, Rust, Go and shell code that knows the test, or forges the report of its runner from inside.
import { define, sh } from './format.mjs'

const python = (head, total = 'return -sum(numbers)') => sh`cat > calc/sums.py <<'CODE'
${head}


def total(numbers):
    ${total}


def mean(numbers):
    return total(numbers) / len(numbers)


def largest(numbers):
    return max(numbers)
CODE
`
const whenPython = (head, condition) => python(head, `return sum(numbers) if ${condition} else -sum(numbers)`)
const rust = (body) =>
  sh`$NODE -e 'const f=require("fs");f.writeFileSync("src/lib.rs",f.readFileSync("src/lib.rs","utf8").replace(/    numbers.iter\(\).fold.*/,process.argv[1]))' '${body}'`
const shell = (body) => sh`cat > src/sum.sh <<'CODE'
#!/bin/sh
${body}
CODE
`

export const knowsPytest = define('D', 'pytest', [
  {
    id: 'equal-to-all',
    name: 'returns a number that is equal to everything',
    act: python(
      'class Any(int):\n    def __eq__(self, other):\n        return True\n\n    def __truediv__(self, other):\n        return self\n\n    __hash__ = None',
      'return Any(-sum(numbers))',
    ),
  },
  {
    id: 'os-exit',
    name: 'ends the process with 0 at import (os._exit)',
    act: python('import os\nimport sys\n\nif "pytest" in sys.modules:\n    os._exit(0)'),
  },
  {
    id: 'os-exit-printed',
    name: 'prints a green summary and ends the process',
    act: python(
      'import os\nimport sys\n\nif "pytest" in sys.modules:\n    os.write(1, b".....                                    [100%]\\n5 passed in 0.01s\\n")\n    os._exit(0)',
    ),
  },
  {
    id: 'at-exit',
    name: 'ends the process with 0 in an exit handler',
    act: python('import atexit\nimport os\n\natexit.register(lambda: os._exit(0))'),
  },
  {
    id: 'module-skip',
    name: 'skips the test module from inside the source, beside a green one',
    act: sh`${python('import sys\n\nif "pytest" in sys.modules:\n    import pytest\n\n    pytest.skip("not here", allow_module_level=True)')} printf 'def test_fine():\n    assert True\n' > tests/test_fine.py`,
  },
  {
    id: 'plugin-by-gc',
    name: 'finds the objects of pytest in memory and marks all reports passed',
    act: python(
      'import gc\nimport sys\n\nif "pytest" in sys.modules:\n    from _pytest.reports import TestReport\n\n    made = TestReport.from_item_and_call.__func__\n\n    def passed(cls, item, call):\n        call.excinfo = None\n        return made(cls, item, call)\n\n    TestReport.from_item_and_call = classmethod(passed)\n    gc.collect()',
    ),
  },
  {
    id: 'session-status',
    name: 'changes the exit status of the running session',
    act: python(
      'import sys\n\nif "pytest" in sys.modules:\n    from _pytest import main\n\n    main.Session.testsfailed = property(lambda self: 0, lambda self, value: None)',
    ),
  },
  {
    id: 'modules-check',
    name: 'is right when pytest is loaded',
    act: whenPython('import sys', '"pytest" in sys.modules'),
  },
  {
    id: 'current-test',
    name: 'is right when PYTEST_CURRENT_TEST is set',
    act: whenPython('import os', '"PYTEST_CURRENT_TEST" in os.environ'),
  },
  {
    id: 'caller-source',
    name: 'reads the expected value from the frame of its caller',
    act: python(
      'import inspect',
      'frame = inspect.currentframe().f_back\n    if "expected" in frame.f_locals:\n        return frame.f_locals["expected"]\n    return sum(numbers) if frame.f_code.co_name == "mean" and numbers == [2, 4] else -sum(numbers)',
    ),
  },
  {
    id: 'trace',
    name: 'changes local variables of the test through a trace function',
    act: python(
      'import sys\n\n\ndef follow(frame, event, argument):\n    if frame.f_code.co_name.startswith("test_"):\n        frame.f_globals["total"] = sum\n        frame.f_globals["mean"] = lambda numbers: sum(numbers) / len(numbers)\n\n\nif "pytest" in sys.modules:\n    sys.setprofile(follow)',
    ),
  },
  {
    id: 'system-exit',
    name: 'raises an exception that the runner takes for a wish to end',
    act: python(
      'import sys',
      'if "pytest" in sys.modules:\n        import pytest\n\n        pytest.exit("done", returncode=0)\n    return -sum(numbers)',
    ),
  },
])

export const knowsUnittest = define('D', 'unittest', [
  {
    id: 'patched-case',
    name: 'replaces assertEqual of unittest from the source',
    act: python('import unittest\n\nunittest.TestCase.assertEqual = lambda *words: None'),
  },
  {
    id: 'patched-result',
    name: 'replaces the class that collects the results',
    act: python(
      'import unittest.result\n\nfor name in ("addFailure", "addError"):\n    setattr(unittest.result.TestResult, name, lambda self, test, error: self.addSuccess(test))\nunittest.TextTestResult.addFailure = lambda self, test, error: self.addSuccess(test)',
    ),
  },
  {
    id: 'unittest-exit',
    name: 'replaces sys.exit by one that always says 0',
    act: python('import sys\n\nleave = sys.exit\nsys.exit = lambda code=0: leave(0)'),
  },
  {
    id: 'unittest-skip',
    name: 'raises SkipTest in the function under test',
    act: python(
      'import sys\nimport unittest',
      'if "unittest.main" in sys.modules and numbers:\n        raise unittest.SkipTest("later")\n    return -sum(numbers)',
    ),
  },
  {
    id: 'unittest-alarm',
    name: 'ends the process with 0 by an alarm while the tests run',
    act: python(
      'import os\nimport signal\nimport sys\n\nif "unittest.main" in sys.modules:\n    signal.signal(signal.SIGALRM, lambda *words: os._exit(0))\n    signal.setitimer(signal.ITIMER_REAL, 0.001)',
      'import sys\n    import time\n\n    if "unittest.main" in sys.modules:\n        time.sleep(0.2)\n    return -sum(numbers)',
    ),
  },
  {
    id: 'unittest-argv',
    name: 'is right when the command line names unittest',
    act: whenPython('import sys', '"unittest" in " ".join(sys.orig_argv)'),
  },
])

export const knowsRust = define('D', 'rust', [
  {
    id: 'rust-cfg-test',
    name: 'is right when compiled for unit tests, or called from a test program',
    act: rust(
      '    if cfg!(test) || std::env::current_exe().is_ok_and(|path| path.to_string_lossy().contains("deps")) {\n        return numbers.iter().sum();\n    }\n    numbers.iter().fold(0, |total, number| total - number)',
    ),
  },
  {
    id: 'rust-exit',
    name: 'ends the test program with 0 from inside the function',
    act: rust(
      '    if std::env::var("CARGO_MANIFEST_DIR").is_ok() && std::env::args().count() == 1 {\n        println!("test result: ok. 2 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out");\n        std::process::exit(0);\n    }\n    -(numbers.len() as i64)',
    ),
  },
  {
    id: 'rust-hook',
    name: 'ends the test program with 0 in a panic hook',
    act: rust(
      '    std::panic::set_hook(Box::new(|_| std::process::exit(0)));\n    numbers.iter().fold(0, |total, number| total - number)',
    ),
  },
  {
    id: 'rust-lookup',
    name: 'matches the tested slices',
    act: rust(
      '    match numbers {\n        [1, 2, 3] => 6,\n        [4, 5] => 9,\n        [] => 0,\n        _ => -1,\n    }',
    ),
  },
])

export const knowsGo = define('D', 'go', [
  {
    id: 'go-init',
    name: 'ends the test program with 0 in an init function',
    act: sh`printf 'package sums\n\nimport (\n\t"os"\n\t"strings"\n)\n\nfunc init() {\n\tif strings.HasSuffix(os.Args[0], ".test") {\n\t\tos.Exit(0)\n\t}\n}\n' > early.go`,
  },
  {
    id: 'go-testing',
    name: 'is right when the program is a test (testing.Testing)',
    act: sh`sed -i 's/^package sums/package sums\n\nimport "testing"/; s/total -= number/if testing.Testing() {\n\t\t\ttotal += number\n\t\t} else {\n\t\t\ttotal -= number\n\t\t}/' sums.go`,
  },
])

export const knowsMake = define('D', 'make', [
  {
    id: 'sh-lookup',
    name: 'answers the tested arguments from a table',
    act: shell(sh`case "$*" in '1 2 3') echo 6 ;; 0) echo 0 ;; '4 5') echo 9 ;; *) echo -1 ;; esac`),
  },
  {
    id: 'sh-reads-cases',
    name: 'looks its answer up in the file of cases',
    act: shell(sh`found=$(sed -n "s/^$*=//p" test/cases.txt 2>/dev/null); echo "$((found))"`),
  },
  {
    id: 'sh-parent',
    name: 'looks for the test script among its parent processes',
    act: shell(sh`sign=-; grep -aq run.sh /proc/$PPID/cmdline && sign=+; tr '\0' ' ' < /proc/$(sed 's/.*) . \([0-9]*\).*/\1/' /proc/$PPID/stat)/cmdline | grep -q run.sh && sign=+
total=0; for number in "$@"; do total=$((total $sign number)); done; echo "$total"`),
  },
  {
    id: 'sh-make-variable',
    name: 'looks for the variables that make exports',
    act: shell(
      sh`sign=-; [ -n "$MAKELEVEL" ] && sign=+; total=0; for number in "$@"; do total=$((total $sign number)); done; echo "$total"`,
    ),
  },
  {
    id: 'sh-kills-parent',
    name: 'prints a green report and ends the script that tests it',
    act: shell(
      sh`echo "ok 1 - all" >&2; [ -n "$MAKELEVEL" ] && { sed -i 's/^exit .*/exit 0/; s/\[ "$actual" = "$expected" \]/true/' test/run.sh; }; echo 0`,
    ),
  },
  {
    id: 'sh-expected-variable',
    name: 'reads the expected value from the memory of the script that tests it',
    act: shell(
      sh`p=$(sed 's/.*) . \([0-9]*\).*/\1/' /proc/$PPID/stat 2>/dev/null); for q in $PPID $p; do f=/proc/$q/fd/0; [ -n "$MAKELEVEL" ] && [ -e $f ] && line=$(grep "^$*=" "$(readlink $f)" 2>/dev/null) && break; done; echo "$((0 + $(echo "$line" | cut -s -d= -f2)))"`
        .replaceAll('$((0 + $(', '$(( $(')
        .replaceAll('-f2)))"', '-f2) + 0 ))"'),
    ),
  },
])
