import { spawnSync } from 'node:child_process'
import { afterAll, describe, expect, it } from 'vitest'
import { removeProjects, runProject, testLines } from '../../../test/support/test-projects/run-project.ts'
import { exchangeInlineTests } from './inline-tests.ts'

const hasCargo = spawnSync('cargo', ['--version']).status === 0
const manifest = '[package]\nname = "calc"\nversion = "0.1.0"\nedition = "2021"\n'

afterAll(removeProjects)

const example = (code: string, words = '') => `/// \`\`\`${words}\n/// ${code}\n/// \`\`\`\n`
const library = `//! Calculates.
//!
//! \`\`\`
//! assert_eq!(calc::add(1, 1), 2);
//! \`\`\`
#![forbid(dead_code)]

${example('# use calc::add;\n/// assert_eq!(add(1, 2), 3);')}#[inline]
pub const fn add(a: i32, b: i32) -> i32 { a + b }

pub struct Pair<'a, T>(pub &'a T, pub T);

impl<'a, T: Clone> Pair<'a, T> {
${example('calc::Pair(&1, 2).first();', 'rust,no_run')}    pub fn first(&self) -> T { self.0.clone() }
}

pub trait Named {
${example('panic!("{}", 1)', 'should_panic')}    fn name(&self) -> String { '{'.to_string() }
}

impl Named for Pair<'_, i32> {
${example('calc::absent();', 'compile_fail')}    fn name(&self) -> String { String::new() }
}

${example('assert_eq!(calc::twice!(2), 4);')}#[macro_export]
macro_rules! twice { ($number:expr) => { $number * 2 } }

mod texts;
`
const texts = `//! \`\`\`
//! assert!(true);
//! \`\`\`

pub enum Kind {
${example('assert_eq!(1, 2);')}    One,
}

${example('assert!(true);')}pub(crate) fn hidden() -> Kind { Kind::One }
const _: fn() -> Kind = hidden;
`
const forms = `/*! Calculates.

\`\`\`
assert_eq!(calc::add(1, 1), 2);
\`\`\`
*/

/** Adds.
 *
 * \`\`\`
 * assert_eq!(calc::add(1, 2), 3);
 * \`\`\`
 */
pub fn add(a: i32, b: i32) -> i32 { a + b }

#[doc = "Doubles."]
#[doc = "\`\`\`"]
#[doc = "assert_eq!(calc::double(2), 4); // \\"{\\""]
#[doc = "\`\`\`"]
#[inline]
pub fn double(a: i32) -> i32 { a + a }

#[doc = r#"Halves.
\`\`\`
assert_eq!(calc::half(4), 2, "{}", 1);
\`\`\`
"#]
pub fn half(a: i32) -> i32 { a / 2 }

pub struct Pair(pub i32);
impl Pair {
    #[cfg_attr(doctest, doc = "\`\`\`\\nassert_eq!(calc::Pair(1).first(), 1);\\n\`\`\`")]
    pub fn first(&self) -> i32 { self.0 }
}

#[doc = include_str!("../README.md")]
pub fn readme() {}

/// Triples.
///
///     let six = calc::triple(2);
///
///     assert_eq!(six, 6);
pub fn triple(a: i32) -> i32 { a * 3 }

/// - One item
///
///     and its second paragraph.
///
/// A paragraph
///     that goes to a second line.
pub fn listed() {}

#[doc = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/", "README.md"))]
pub fn joined() {}
`
const formsWithout = `pub fn add(a: i32, b: i32) -> i32 { a + b }
pub fn double(a: i32) -> i32 { a + a }
pub fn half(a: i32) -> i32 { a / 2 }
pub struct Pair(pub i32);
impl Pair { pub fn first(&self) -> i32 { self.0 } }
pub fn readme() {}
pub fn triple(a: i32) -> i32 { a * 3 }
pub fn listed() {}
pub fn joined() {}
`
const withoutComments = (text: string) => text.replaceAll(/^ *\/\/[/!].*\n/gm, '')
const exchange = (path: string, before: string, after: string) =>
  exchangeInlineTests(path, before, after)?.oldOnNew ?? 'no exchange'

describe.runIf(hasCargo)('examples of rustdoc that a claim deletes', () => {
  it('run under the names that they had, with the results that they had', async () => {
    const run = (lib: string, more: string) =>
      runProject(
        { 'Cargo.toml': manifest, 'src/lib.rs': lib, 'src/texts.rs': more },
        'cargo test -q --offline --doc; cargo test -q --offline --lib',
      )
    const before = await run(library, texts)
    const after = await run(
      exchange('src/lib.rs', library, withoutComments(library)),
      exchange('src/texts.rs', texts, withoutComments(texts)),
    )
    expect(testLines(before.run)).toEqual([
      'failed  src/texts.rs > doc > texts > Kind > One',
      'passed  src/lib.rs > doc',
      'passed  src/lib.rs > doc > Named > name',
      "passed  src/lib.rs > doc > Pair<'_,i32> > name",
      "passed  src/lib.rs > doc > Pair<'a,T> > first",
      'passed  src/lib.rs > doc > add',
      'passed  src/lib.rs > doc > twice',
      'passed  src/texts.rs > doc > texts',
      'passed  src/texts.rs > doc > texts > hidden',
    ])
    expect(testLines(after.run)).toEqual(testLines(before.run))
  }, 180_000)

  it('run whatever form of documentation holds them, also with the text of a file that the source includes', async () => {
    const run = (lib: string) =>
      runProject(
        { 'Cargo.toml': manifest, 'src/lib.rs': lib, 'README.md': '```\nassert_eq!(calc::add(2, 2), 4);\n```\n' },
        'cargo test -q --offline --doc',
      )
    const before = await run(forms)
    const after = await run(exchange('src/lib.rs', forms, formsWithout))
    expect(testLines(before.run)).toEqual([
      'passed  src/lib.rs > doc',
      'passed  src/lib.rs > doc > Pair > first',
      'passed  src/lib.rs > doc > add',
      'passed  src/lib.rs > doc > double',
      'passed  src/lib.rs > doc > half',
      'passed  src/lib.rs > doc > joined',
      'passed  src/lib.rs > doc > readme',
      'passed  src/lib.rs > doc > triple',
    ])
    expect(testLines(after.run)).toEqual(testLines(before.run))
  }, 180_000)
})
