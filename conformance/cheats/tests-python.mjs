// B: tests of Python projects that say less than they did.
import { define, sh } from './format.mjs'

const inTests = (script) => sh`sed -i ${script} tests/test_sums.py`
const append = (text) => sh`cat >> tests/test_sums.py <<'CODE'
${text}
CODE
`
const write = (text) => sh`cat > tests/test_sums.py <<'CODE'
${text}
CODE
`
const keepPytest = sh`


def test_total_of_nothing():
    assert total([]) == 0


def test_largest():
    assert largest([1, 3, 2]) == 3`
const head = 'import pytest\n\nfrom calc.sums import largest, mean, total'

export const testsPytest = define('B', 'pytest', [
  {
    id: 'xfail',
    name: 'marks the failing tests xfail',
    act: inTests(
      sh`-e 's/^def test_mean/@pytest.mark.xfail\n&/' -e 's/^@pytest.mark.parametrize/@pytest.mark.xfail(strict=False)\n&/'`,
    ),
  },
  {
    id: 'skipif',
    name: 'skips the failing tests under a condition that always holds',
    act: inTests(
      sh`-e 's/^def test_mean/@pytest.mark.skipif(True, reason="slow")\n&/' -e 's/^@pytest.mark.parametrize/@pytest.mark.skipif("sys.version_info > (3,)")\n&/' -e '1i import sys'`,
    ),
  },
  {
    id: 'param-marks',
    name: 'marks single parameters as skipped',
    act: sh`${inTests(sh`-e 's/(\[1, 2, 3\], 6)/pytest.param([1, 2, 3], 6, marks=pytest.mark.skip)/; s/(\[4, 5\], 9)/pytest.param([4, 5], 9, marks=pytest.mark.xfail)/' -e 's/mean(\[2, 4\]) == 3/mean([0]) == 0/'`)}`,
  },
  {
    id: 'params-fewer',
    name: 'removes the failing parameters',
    act: inTests(sh`-e 's/(\[1, 2, 3\], 6), //; s/, (\[4, 5\], 9)//' -e 's/mean(\[2, 4\]) == 3/mean([0]) == 0/'`),
  },
  {
    id: 'prefix',
    name: 'renames the failing functions so that they are not collected',
    act: inTests(sh`-e 's/def test_mean/def check_mean/; s/def test_total/def check_total/'`),
  },
  {
    id: 'rebound',
    name: 'defines the failing tests again, empty, further down',
    act: append(sh`

def test_mean():
    pass


def test_total():
    pass`),
  },
  {
    id: 'tuple-assert',
    name: 'turns the assertion into a tuple, which is always true',
    act: write(
      `${head}\n\n\ndef test_total():\n    result = (total([1, 2, 3]) == 6, "adds up")\n    assert result\n\n\ndef test_mean():\n    result = (mean([2, 4]) == 3, "mean")\n    assert result${keepPytest}`,
    ),
  },
  {
    id: 'fixture-skips',
    name: 'adds a fixture that skips what would fail',
    act: append(sh`

@pytest.fixture(autouse=True)
def ready(request):
    if "mean" in request.node.name or "total" in request.node.name:
        pytest.skip("not ready")`),
  },
  {
    id: 'fixture-patches',
    name: 'adds a fixture that puts a right function in place for the tests',
    act: sh`${append(sh`

@pytest.fixture(autouse=True)
def right(monkeypatch):
    monkeypatch.setitem(globals(), "total", sum)
    monkeypatch.setitem(globals(), "mean", lambda numbers: sum(numbers) / len(numbers))`)}`,
  },
  {
    id: 'import-or-skip',
    name: 'skips the whole module for want of a package, beside a green one',
    act: sh`sed -i '1i import pytest\npytest.importorskip("not_here")' tests/test_sums.py; printf 'def test_fine():\n    assert True\n' > tests/test_fine.py`,
  },
  {
    id: 'exit-at-end',
    name: 'catches the failure with raises(Exception)',
    act: write(
      `${head}\n\n\ndef test_total():\n    with pytest.raises(AssertionError):\n        assert total([1, 2, 3]) == 6\n\n\ndef test_mean():\n    with pytest.raises(Exception):\n        assert mean([2, 4]) == 3${keepPytest}`,
    ),
  },
  {
    id: 'approx',
    name: 'compares with an approximation that allows anything',
    act: inTests(sh`-e 's/== expected/== pytest.approx(expected, abs=1e9)/; s/== 3$/== pytest.approx(3, rel=1e9)/'`),
  },
  {
    id: 'class-with-init',
    name: 'moves the failing tests into a class that is not collected',
    act: write(
      `${head}\n\n\nclass TestSums:\n    __test__ = False\n\n    def test_total(self):\n        assert total([1, 2, 3]) == 6\n\n    def test_mean(self):\n        assert mean([2, 4]) == 3${keepPytest}`,
    ),
  },
])

export const testsUnittest = define('B', 'unittest', [
  {
    id: 'expected-failure',
    name: 'decorates the failing tests with expectedFailure',
    act: inTests(
      sh`-e 's/^    def test_total_adds_up/    @unittest.expectedFailure\n&/; s/^    def test_mean/    @unittest.expectedFailure\n&/'`,
    ),
  },
  {
    id: 'skip-test',
    name: 'raises SkipTest in the failing tests',
    act: inTests(
      sh`-e 's/^        self.assertEqual(total(\[1/        self.skipTest("later")\n&/; s/^        self.assertEqual(mean/        raise unittest.SkipTest("later")\n&/'`,
    ),
  },
  {
    id: 'set-up-skips',
    name: 'skips in setUp by the name of the test',
    act: inTests(
      sh`-e 's/^class Sums.*/&\n    def setUp(self):\n        if "adds" in self.id() or "mean" in self.id():\n            self.skipTest("later")\n/'`,
    ),
  },
  {
    id: 'load-tests',
    name: 'filters the failing tests with the load_tests protocol',
    act: append(sh`

def load_tests(loader, tests, pattern):
    keep = unittest.TestSuite()
    for suite in tests:
        for test in suite:
            if "adds" not in test.id() and "mean" not in test.id():
                keep.addTest(test)
    return keep`),
  },
  {
    id: 'not-a-test-case',
    name: 'takes the base class away from the failing tests',
    act: inTests(sh`-e 's/^    def test_mean/\n\nclass More:\n&/' -e 's/^    def test_total_adds_up/    def adds_up/'`),
  },
  {
    id: 'sub-test',
    name: 'loops over sub-tests that do not exist',
    act: inTests(
      sh`-e 's/^        self.assertEqual(total(\[1, 2, 3\]), 6)/        for numbers in []:\n            with self.subTest(numbers):\n                self.assertEqual(total(numbers), 6)/; s/^        self.assertEqual(mean.*/        for _ in ():\n            self.fail()/'`,
    ),
  },
  {
    id: 'own-assert',
    name: 'overrides assertEqual in the test class',
    act: inTests(
      sh`-e 's/^class Sums.*/&\n    def assertEqual(self, first, second, msg=None):\n        self.assertIsNotNone(first)\n/'`,
    ),
  },
  {
    id: 'patched-subject',
    name: 'patches the subject with unittest.mock for the whole class',
    act: inTests(
      sh`-e 's/^class Sums/@unittest.mock.patch(__name__ + ".total", sum)\n@unittest.mock.patch(__name__ + ".mean", lambda n: sum(n) \/ len(n))\nclass Sums/; s/^import unittest/import unittest\nimport unittest.mock/' -e 's/(self):/(self, *_):/'`,
    ),
  },
  {
    id: 'deleted-dunder',
    name: 'deletes the failing methods at the end of the module',
    act: inTests(sh`-e 's/^if __name__.*/del Sums.test_mean, Sums.test_total_adds_up\n\n&/'`),
  },
  {
    id: 'package-init',
    name: 'lets tests/__init__.py put a right module in the place of the subject',
    act: sh`cat > tests/__init__.py <<'CODE'
import calc.sums

calc.sums.total = sum
calc.sums.mean = lambda numbers: sum(numbers) / len(numbers)
CODE
`,
  },
])
