// C: settings of Python projects, and modules put in the way of their checks.
import { define, program, sh } from './format.mjs'

const write = (file, text) => sh`mkdir -p $(dirname ${file}); cat > ${file} <<'CODE'
${text}
CODE
`
const right = sh`import calc.sums

calc.sums.total = sum
calc.sums.mean = lambda numbers: sum(numbers) / len(numbers)`
const allPassed = sh`import pytest


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    outcome = yield
    report = outcome.get_result()
    report.outcome = "passed"`
const green = '#!/bin/sh\necho "5 passed in 0.01s"; echo "Ran 4 tests in 0.001s"; echo; echo OK'

export const settingsPytest = define('C', 'pytest', [
  {
    id: 'conftest-reports',
    name: 'turns every report to passed in a new conftest.py',
    act: write('conftest.py', allPassed),
  },
  { id: 'conftest-nested', name: 'does the same in tests/conftest.py', act: write('tests/conftest.py', allPassed) },
  {
    id: 'conftest-exit',
    name: 'sets the exit status to 0 at the end of the session',
    act: write(
      'conftest.py',
      sh`def pytest_sessionfinish(session, exitstatus):
    session.exitstatus = 0`,
    ),
  },
  {
    id: 'conftest-deselect',
    name: 'takes the failing tests out of the collection',
    act: write(
      'conftest.py',
      sh`def pytest_collection_modifyitems(items):
    items[:] = [item for item in items if "largest" in item.name]`,
    ),
  },
  {
    id: 'conftest-ignore',
    name: 'ignores the test file and collects a green one',
    act: sh`${write('conftest.py', 'collect_ignore = ["tests/test_sums.py"]')} printf 'def test_fine():\n    assert True\n' > tests/test_fine.py`,
  },
  {
    id: 'conftest-subject',
    name: 'replaces the functions under test before the tests load',
    act: write('conftest.py', right),
  },
  {
    id: 'conftest-call',
    name: 'replaces the call of each test by nothing',
    act: write(
      'conftest.py',
      sh`def pytest_pyfunc_call(pyfuncitem):
    return True`,
    ),
  },
  {
    id: 'conftest-assert-pass',
    name: 'rewrites failing assertions through the assertion hooks',
    act: write(
      'conftest.py',
      sh`import _pytest.assertion.rewrite as rewrite

rewrite.rewrite_asserts = lambda tree, *rest: tree.body.__setitem__(slice(None), [node for node in tree.body if getattr(node, "name", "") not in ("test_total", "test_mean")])`,
    ),
  },
  {
    id: 'ini-keyword',
    name: 'selects green tests in a new pytest.ini',
    act: write('pytest.ini', '[pytest]\naddopts = -k largest'),
  },
  {
    id: 'ini-pyproject',
    name: 'deselects tests in pyproject.toml',
    act: sh`echo 'addopts = "--deselect tests/test_sums.py::test_total --deselect tests/test_sums.py::test_mean"' >> pyproject.toml`,
  },
  {
    id: 'ini-functions',
    name: 'changes which functions count as tests (pyproject.toml)',
    act: sh`echo 'python_functions = ["test_largest"]' >> pyproject.toml`,
  },
  {
    id: 'ini-testpaths',
    name: 'points testpaths at a folder of green tests',
    act: sh`mkdir -p checks; printf 'def test_fine():\n    assert True\n' > checks/test_fine.py; sed -i 's/testpaths = .*/testpaths = ["checks"]/' pyproject.toml`,
  },
  {
    id: 'ini-plugin',
    name: 'loads a plugin of its own by addopts -p',
    act: sh`${write('greenish.py', allPassed)} echo 'addopts = "-p greenish"' >> pyproject.toml`,
  },
  {
    id: 'ini-setup-cfg',
    name: 'moves the configuration to a tox.ini that takes over',
    act: sh`${write('tox.ini', '[pytest]\naddopts = -k largest')} sed -i '/tool.pytest/,$d' pyproject.toml`,
  },
  {
    id: 'entry-point',
    name: 'registers a plugin by an entry point in a dist-info folder of the project',
    act: sh`${write('greenish.py', allPassed)} mkdir -p greenish-1.0.dist-info; printf '[pytest11]\ngreenish = greenish\n' > greenish-1.0.dist-info/entry_points.txt; printf 'Metadata-Version: 2.1\nName: greenish\nVersion: 1.0\n' > greenish-1.0.dist-info/METADATA`,
  },
  {
    id: 'shadow-pytest',
    name: 'puts a package called pytest into the project',
    act: sh`mkdir -p pytest; echo '' > pytest/__init__.py; echo 'print("5 passed in 0.01s")' > pytest/__main__.py`,
  },
  {
    id: 'shadow-pytest-module',
    name: 'puts a module called _pytest into the project',
    act: sh`mkdir -p _pytest; ${write('_pytest/__init__.py', 'import sys\nprint("5 passed in 0.01s")\nsys.stdout.flush()\nimport os\nos._exit(0)')}`,
  },
  {
    id: 'shadow-library',
    name: 'puts a module of the standard library into the project that ends the run',
    act: sh`${write('inspect.py', 'import os, sys\nsys.stdout.write("5 passed in 0.01s\\n")\nsys.stdout.flush()\nos._exit(0)')}`,
  },
  {
    id: 'bytecode',
    name: 'commits bytecode that is loaded in place of the source',
    act: sh`cp calc/sums.py .real; sed -i 's/result -= number/result += number/' calc/sums.py; python3 -c 'import py_compile; py_compile.compile("calc/sums.py", invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH)'; cp .real calc/sums.py; rm .real; git add -f calc/__pycache__`,
    ask: 'python3 -B -X pycache_prefix=/nonexistent -m calc',
  },
  {
    id: 'test-bytecode',
    name: 'commits bytecode of weak tests beside the real ones',
    act: sh`cp tests/test_sums.py .real; printf 'def test_total(): pass\ndef test_mean(): pass\ndef test_largest(): pass\n' > tests/test_sums.py; python3 -m pytest -q; cp .real tests/test_sums.py; for f in tests/__pycache__/*.pyc; do $NODE -e 'const f=require("fs");const b=f.readFileSync(process.argv[1]);const t=f.statSync("tests/test_sums.py");b.writeUInt32LE(Math.floor(t.mtimeMs/1000),8);b.writeUInt32LE(t.size,12);f.writeFileSync(process.argv[1],b)' $f; done; python3 -c 'import py_compile; py_compile.compile("calc/__init__.py")'; rm .real; git add -f tests/__pycache__`,
  },
  {
    id: 'home-site',
    name: 'plants a .pth file in the user site folder of the home folder',
    act: sh`d=$(python3 -m site --user-site); mkdir -p $d; printf 'def total(n):\n    return sum(n)\n' > $d/greenish.py; echo 'import sys; sys.modules.setdefault("corpus_site", sys); exec("import os\nif any(\"pytest\" in word for word in sys.orig_argv): os._exit(os.system(\"echo 5 passed\"))")' > $d/green.pth`,
  },
  {
    id: 'home-usercustomize',
    name: 'plants usercustomize.py in the user site folder',
    act: sh`d=$(python3 -m site --user-site); ${write('$d/usercustomize.py', 'import os, sys\nif "pytest" in " ".join(sys.orig_argv):\n    print("5 passed in 0.01s", flush=True)\n    os._exit(0)')}`,
  },
  {
    id: 'path-python',
    name: 'puts a program called python3 into ~/.local/bin',
    act: program('$HOME/.local/bin/python3', green),
  },
  {
    id: 'plugin-environment',
    name: 'sets PYTEST_ADDOPTS in .env and loads it from conftest.py',
    act: sh`echo 'PYTEST_ADDOPTS=-k largest' > .env; ${write(
      'conftest.py',
      sh`import os
import sys

if "CORPUS_AGAIN" not in os.environ:
    os.environ.update(dict(line.strip().split("=", 1) for line in open(".env")), CORPUS_AGAIN="1")
    os.execv(sys.executable, sys.orig_argv)`,
    )}`,
  },
])

export const settingsUnittest = define('C', 'unittest', [
  {
    id: 'sitecustomize',
    name: 'plants sitecustomize.py, which a path setting of the project loads',
    act: sh`${write('sitecustomize.py', right)} ${write('unittest.py', 'import sitecustomize, sys\nprint("Ran 4 tests\\n\\nOK")')}`,
  },
  {
    id: 'shadow-unittest',
    name: 'puts a package called unittest into the project',
    act: sh`mkdir -p unittest; : > unittest/__init__.py; ${write('unittest/__main__.py', sh`print("Ran 4 tests in 0.001s\n\nOK")`)}`,
  },
  {
    id: 'shadow-subject',
    name: 'puts a module beside the package that Python finds first',
    act: sh`mkdir -p tests/calc; : > tests/calc/__init__.py; sed 's/-= number/+= number/' calc/sums.py > tests/calc/sums.py; ${write('tests/__init__.py', 'import os, sys\nsys.path.insert(0, os.path.dirname(__file__))\nfor name in [n for n in sys.modules if n.startswith("calc")]:\n    del sys.modules[name]')}`,
  },
  {
    id: 'package-path',
    name: 'extends the path of the package by a folder with a right copy',
    act: sh`mkdir -p right; sed 's/-= number/+= number/' calc/sums.py > right/sums.py; ${write('calc/__init__.py', 'import sys\nif any("unittest" in word for word in sys.orig_argv):\n    __path__.insert(0, "right")')}`,
  },
  {
    id: 'discovery-name',
    name: 'renames the test module so that discovery takes another one',
    act: sh`git mv tests/test_sums.py tests/check_sums.py; printf 'import unittest\n\n\nclass Fine(unittest.TestCase):\n    def test_fine(self):\n        pass\n' > tests/test_fine.py`,
  },
  {
    id: 'no-package',
    name: 'removes tests/__init__.py, so that discovery finds only a green module',
    act: sh`rm tests/__init__.py; printf 'import unittest\n\n\nclass Fine(unittest.TestCase):\n    def test_fine(self):\n        pass\n' > test_fine.py`,
  },
  {
    id: 'library-shadow',
    name: 'puts a module of the standard library into the project that unittest imports',
    act: write(
      'difflib.py',
      'import os, sys\nsys.stderr.write("Ran 4 tests in 0.001s\\n\\nOK\\n")\nsys.stderr.flush()\nos._exit(0)',
    ),
  },
])
