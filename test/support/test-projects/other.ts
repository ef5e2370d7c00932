import type { ProjectFiles, TestProject } from './test-project.ts'

const goModule = { 'go.mod': 'module example.com/calc\n\ngo 1.19\n' }
const cargoPackage = { 'Cargo.toml': '[package]\nname = "calc"\nversion = "0.1.0"\nedition = "2021"\n' }
const cmake = (lists: string): ProjectFiles => ({
  'CMakeLists.txt': `cmake_minimum_required(VERSION 3.20)\nproject(calc NONE)\nenable_testing()\n${lists}`,
})

export const otherProjects: Readonly<Record<string, TestProject>> = {
  pytest: {
    command: 'python3 -m pytest -v',
    mixed: {
      'tests/test_calc.py': `import pytest

def test_adds():
    assert 1 + 1 == 2

def test_red():
    assert 1 == 2

@pytest.mark.skip
def test_skipped():
    pass

@pytest.mark.xfail
def test_fails_as_expected():
    assert 1 == 2

@pytest.mark.xfail
def test_passes_unexpectedly():
    pass

@pytest.mark.parametrize("n", [1, 2])
def test_each(n):
    assert n == 1

@pytest.fixture
def broken():
    raise RuntimeError("fixture")

def test_with_broken_fixture(broken):
    pass

class TestMath:
    def test_adds(self):
        pass
`,
    },
    unloadable: {
      'tests/test_broken.py': 'raise RuntimeError("cannot load")\n',
      'tests/test_a.py': 'def test_adds():\n    pass\n',
    },
    green: { 'test_a.py': 'def test_adds():\n    pass\n' },
    stopped: { 'test_a.py': 'import os\nos._exit(0)\n' },
  },
  unittest: {
    command: 'python3 -m unittest discover -v',
    mixed: {
      'test_calc.py': `import unittest

class Calc(unittest.TestCase):
    def test_adds(self):
        self.assertEqual(1 + 1, 2)

    def test_red(self):
        self.assertEqual(1, 2)

    @unittest.skip("later")
    def test_skipped(self):
        pass

    @unittest.expectedFailure
    def test_fails_as_expected(self):
        self.fail()

    @unittest.expectedFailure
    def test_passes_unexpectedly(self):
        pass

    def test_with_parts(self):
        for n in (1, 2):
            with self.subTest(n=n):
                self.assertEqual(n, 1)

class Other(unittest.TestCase):
    def test_adds(self):
        pass

class WithBrokenSetup(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        raise RuntimeError("setup")

    def test_never_runs(self):
        pass
`,
      'test_broken.py': 'raise RuntimeError("cannot load")\n',
    },
    green: { 'test_a.py': 'import unittest\n\nclass A(unittest.TestCase):\n    def test_adds(self):\n        pass\n' },
    stopped: { 'test_a.py': 'import os\nos._exit(0)\n' },
  },
  go: {
    command: 'go test -v ./...',
    mixed: {
      ...goModule,
      'calc_test.go': `package calc

import (
	"fmt"
	"testing"
)

func TestAdds(t *testing.T) { fmt.Print("no line break") }
func TestRed(t *testing.T)  { t.Error("1 is not 2") }
func TestSkipped(t *testing.T) { t.Skip("later") }
func TestParent(t *testing.T) {
	t.Run("same", func(t *testing.T) {})
	t.Run("red", func(t *testing.T) { t.Fail() })
}
`,
      'deep/deep_test.go': 'package deep\n\nimport "testing"\n\nfunc TestAdds(t *testing.T) {}\n',
      'loud/loud_test.go': 'package loud\n\nimport "testing"\n\nfunc TestPanics(t *testing.T) { panic("no") }\n',
    },
    green: { ...goModule, 'a_test.go': 'package calc\n\nimport "testing"\n\nfunc TestAdds(t *testing.T) {}\n' },
    stopped: {
      ...goModule,
      'a_test.go':
        'package calc\n\nimport (\n\t"os"\n\t"testing"\n)\n\nfunc init() { os.Exit(0) }\nfunc TestAdds(t *testing.T) {}\n',
    },
  },
  cargo: {
    command: 'cargo test --offline --no-fail-fast',
    mixed: {
      ...cargoPackage,
      'src/lib.rs': `/// \`\`\`
/// assert_eq!(calc::add(1, 1), 2);
/// \`\`\`
pub fn add(a: i32, b: i32) -> i32 { a + b }

#[cfg(test)]
mod tests {
    #[test]
    fn adds() { print!("no line break"); assert_eq!(super::add(1, 1), 2) }
    #[test]
    fn red() { assert_eq!(1, 2) }
    #[test]
    #[ignore]
    fn skipped() {}
    #[test]
    #[should_panic]
    fn panics() { panic!() }
}
`,
      'tests/whole.rs': '#[test]\nfn adds() { assert_eq!(calc::add(2, 2), 4) }\n',
    },
    green: { ...cargoPackage, 'src/lib.rs': '#[test]\nfn adds() {}\n' },
    stopped: { ...cargoPackage, 'src/lib.rs': '#[test]\nfn adds() { std::process::exit(0) }\n' },
  },
  rspec: {
    command: 'rspec',
    mixed: {
      'spec/calc_spec.rb': `describe 'Calc' do
  it('adds') { expect(1 + 1).to eq 2 }
  it('twice') {}
  it('twice') { expect(1).to eq 2 }
  xit('is skipped') {}
  it 'has no body'
  it('fails as expected') { pending 'later'; expect(1).to eq 2 }
  context('deep') { it('adds') {} }
end
`,
    },
    unloadable: {
      'spec/broken_spec.rb': `raise 'cannot load'\n`,
      'spec/a_spec.rb': `describe('A') { it('adds') {} }\n`,
    },
    green: { 'spec/a_spec.rb': `describe('A') { it('adds') {} }\n` },
    stopped: { 'spec/a_spec.rb': 'exit! 0\n' },
  },
  minitest: {
    command: 'ruby test/test_calc.rb',
    mixed: {
      'test/test_calc.rb': `require 'minitest/autorun'

class TestCalc < Minitest::Test
  def test_adds = assert_equal(2, 1 + 1)
  def test_red = assert_equal(2, 1)
  def test_skipped = skip('later')
  def test_raises = raise('no')
end

class TestOther < Minitest::Test
  def test_adds = assert(true)
end
`,
    },
    green: {
      'test/test_calc.rb': `require 'minitest/autorun'\n\nclass TestA < Minitest::Test\n  def test_adds = assert(true)\nend\n`,
    },
    stopped: {
      'test/test_calc.rb': `require 'minitest/autorun'\n\nclass TestA < Minitest::Test\n  def test_adds = exit!(0)\nend\n`,
    },
  },
  phpunit: {
    command: 'phpunit tests',
    mixed: {
      'tests/CalcTest.php': `<?php
use PHPUnit\\Framework\\TestCase;

final class CalcTest extends TestCase
{
    public function testAdds(): void { $this->assertSame(2, 1 + 1); }
    public function testRed(): void { $this->assertSame(2, 1); }
    public function testSkipped(): void { $this->markTestSkipped('later'); }
    public function testIncomplete(): void { $this->markTestIncomplete('later'); }
    public function testRaises(): void { throw new RuntimeException('no'); }
    /** @dataProvider numbers */
    public function testEach(int $n): void { $this->assertSame(1, $n); }
    public function numbers(): array { return ['one' => [1], 'two' => [2]]; }
}
`,
    },
    green: {
      'tests/ATest.php':
        '<?php\nfinal class ATest extends PHPUnit\\Framework\\TestCase\n{\n    public function testAdds(): void { $this->assertTrue(true); }\n}\n',
    },
    stopped: { 'tests/ATest.php': '<?php\nexit(0);\n' },
  },
  ctest: {
    command: 'cmake -S . -B build >/dev/null && ctest --test-dir build',
    mixed: cmake(`add_test(NAME adds COMMAND true)
add_test(NAME red COMMAND false)
add_test(NAME skipped COMMAND sh -c "exit 77")
set_tests_properties(skipped PROPERTIES SKIP_RETURN_CODE 77)
add_test(NAME off COMMAND true)
set_tests_properties(off PROPERTIES DISABLED TRUE)
add_test(NAME lost COMMAND no-such-program)
add_test(NAME inverted COMMAND false)
set_tests_properties(inverted PROPERTIES WILL_FAIL TRUE)
`),
    green: cmake('add_test(NAME adds COMMAND true)\n'),
    // The parent is ctest itself.
    stopped: cmake('add_test(NAME adds COMMAND sh -c "kill -9 $PPID")\n'),
  },
}
