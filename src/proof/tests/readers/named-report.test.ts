import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { readNamedReport } from './named-report.ts'
import { parseXml } from './xml.ts'

const read = (text: string) => {
  const { format, report } = readNamedReport(text, '/project')
  const tests = report.tests.map(({ status, file, name, message }) =>
    [status, file, name, ...(message ? [message] : [])].join(' | '),
  )
  return { format, complete: report.complete, tests }
}

describe('JUnit XML', () => {
  const surefire = `<?xml version="1.0" encoding="UTF-8"?>
<testsuite name="com.example.CalcTest" tests="4" errors="1" skipped="1" failures="1">
  <properties><property name="a" value="&lt;testcase/&gt;"/></properties>
  <testcase name="adds" classname="com.example.CalcTest" time="0.01"/>
  <testcase name="red" classname="com.example.CalcTest">
    <failure message="expected: &lt;1&gt; &amp; &#50;" type="AssertionError"><![CDATA[at <CalcTest>]]></failure>
  </testcase>
  <testcase name="raises" classname="com.example.CalcTest"><error type="E">no</error></testcase>
  <testcase name="later" classname="com.example.CalcTest"><skipped/></testcase>
</testsuite>`

  it('is read by class and name, with messages', () => {
    expect(read(surefire)).toEqual({
      format: 'junit',
      complete: true,
      tests: [
        'passed | com.example.CalcTest | adds',
        'failed | com.example.CalcTest | red | expected: <1> & 2',
        'failed | com.example.CalcTest | raises | no',
        'skipped | com.example.CalcTest | later',
      ],
    })
  })

  it('is incomplete when it is cut off, or holds fewer tests than it announces', () => {
    expect(read(surefire.slice(0, -20)).complete).toBe(false)
    expect(read('<testsuites tests="2"><testsuite><testcase name="a"/></testsuite></testsuites>').complete).toBe(false)
  })

  it('knows files, and the xfail of pytest', () => {
    const text = `<testsuites><testsuite name="pytest" tests="2">
      <testcase classname="tests.test_a.TestX" file="/project/tests/test_a.py" name="test_adds"/>
      <testcase classname="tests.test_a" file="tests/test_a.py" name="test_x"><skipped type="pytest.xfail" message=""/></testcase>
    </testsuite></testsuites>`
    expect(read(text).tests).toEqual([
      'passed | tests/test_a.py | tests.test_a.TestX > test_adds',
      'expected-failure | tests/test_a.py | tests.test_a > test_x',
    ])
  })
})

describe('CTRF', () => {
  const report = (tests: number) =>
    JSON.stringify({
      results: {
        tool: { name: 'x' },
        summary: { tests, passed: 1 },
        tests: [
          { name: 'adds', status: 'passed', duration: 1, suite: 'math > deep', filePath: '/project/a.js' },
          { name: 'red', status: 'failed', duration: 1, message: '1 is not 2' },
          { name: 'later', status: 'pending', duration: 0, suite: ['math'] },
        ],
      },
    })

  it('is read by suite and name', () => {
    expect(read(report(3))).toEqual({
      format: 'ctrf',
      complete: true,
      tests: ['passed | a.js | math > deep > adds', 'failed |  | red | 1 is not 2', 'todo |  | math > later'],
    })
  })

  it('is incomplete if its summary counts other tests', () => {
    expect(read(report(4)).complete).toBe(false)
    expect(read('{"results":')).toEqual({ format: 'ctrf', complete: false, tests: [] })
  })
})

describe('TRX', () => {
  const text = `<?xml version="1.0"?><TestRun id="1" xmlns="http://microsoft.com/schemas/VisualStudio/TeamTest/2010">
    <Results>
      <UnitTestResult testId="1" testName="Calc.Tests.Adds" outcome="Passed"/>
      <UnitTestResult testId="2" testName="Calc.Tests.Red" outcome="Failed"><Output><ErrorInfo><Message>no</Message></ErrorInfo></Output></UnitTestResult>
      <UnitTestResult testId="3" testName="Calc.Tests.Later" outcome="NotExecuted"/>
    </Results>
    <TestDefinitions><UnitTest name="Adds" id="1"><TestMethod className="Calc.Tests" name="Adds"/></UnitTest></TestDefinitions>
    <ResultSummary outcome="Failed"><Counters total="3"/></ResultSummary>
  </TestRun>`

  it('is read by class and name', () => {
    expect(read(text)).toEqual({
      format: 'trx',
      complete: true,
      tests: ['passed | Calc.Tests | Adds', 'failed |  | Calc.Tests.Red | no', 'skipped |  | Calc.Tests.Later'],
    })
  })

  it('is incomplete without its summary', () => {
    expect(read(text.replace(/<ResultSummary.*<\/ResultSummary>/s, '')).complete).toBe(false)
  })
})

describe('TAP', () => {
  const text = `TAP version 14
# Subtest: math
    ok 1 - adds
    not ok 2 - red
      ---
      message: '1 is not 2'
      ...
    1..2
not ok 1 - math
ok 2 - plain \\# not a directive
ok 3 - later # SKIP no network
not ok 4 - some day # TODO
not ok 5
1..5
`

  it('is read by suite and name', () => {
    expect(read(text)).toEqual({
      format: 'tap',
      complete: true,
      tests: [
        'passed |  | math > adds',
        'failed |  | math > red | 1 is not 2',
        'passed |  | plain # not a directive',
        'skipped |  | later',
        'todo |  | some day',
        'failed |  | 5',
      ],
    })
  })

  it('is incomplete without its plan, with another plan, or after a bail out', () => {
    expect(read('ok 1 - a\n').complete).toBe(false)
    expect(read('1..2\nok 1 - a\n').complete).toBe(false)
    expect(read('1..1\nok 1 - a\nBail out! no database\n').complete).toBe(false)
    expect(read('1..1\nok 1 - a\n').complete).toBe(true)
  })

  it('keeps a suite that is red by itself', () => {
    expect(read('    ok 1 - adds\n    1..1\nnot ok 1 - math\n1..1\n').tests).toEqual([
      'passed |  | math > adds',
      'failed |  | math',
    ])
  })
})

describe('any text', () => {
  it('is read without an exception, and never as a complete report with tests unless it is one', () => {
    const piece = fc.constantFrom(
      '<',
      '/>',
      '<testcase name="a">',
      '</testcase>',
      '<testsuite>',
      '</testsuite>',
      '{',
      'ok 1',
      '\n',
      '"',
    )
    fc.assert(
      fc.property(fc.array(piece), (pieces) => {
        const { complete, tests } = read(pieces.join(''))
        expect(complete && tests.length > 0 && !pieces.includes('</testsuite>')).toBe(false)
      }),
    )
  })

  it('of 2 MB of XML without an end is refused in good time', () => {
    const started = performance.now()
    expect(parseXml(`<a ${'b="c" '.repeat(200_000)}`)).toBeUndefined()
    expect(parseXml('<'.repeat(1_000_000))).toBeUndefined()
    expect(parseXml(`<${'a'.repeat(1_000_000)}`)).toBeUndefined()
    expect(parseXml('<a>'.repeat(300_000))).toBeUndefined()
    expect(read(`ok 1 - ${' '.repeat(1_000_000)}x`).tests).toHaveLength(1)
    expect(performance.now() - started).toBeLessThan(5_000)
  })
})
