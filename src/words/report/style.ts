import type { HtmlMarkup } from './html.ts'

/** The style sheet of the report, in both colour schemes. */
export const style: HtmlMarkup = {
  html: `
:root { color-scheme: light dark; --ink: #1c2024; --dim: #5f6873; --paper: #f6f7f9; --card: #fff; --line: #dfe3e8; --soft: #f0f2f5; --link: #0b62c4;
  --good: #17703a; --bad: #b3261e; --so: #855b00; --good-bg: #e4f4e9; --bad-bg: #fdeae8; --so-bg: #fbf1d6 }
@media (prefers-color-scheme: dark) { :root { --ink: #e6e9ed; --dim: #9aa4af; --paper: #0f1215; --card: #171b20; --line: #2b3139; --soft: #1e242a; --link: #6cb2ff;
  --good: #5bd17e; --bad: #ff8a80; --so: #e6bb4c; --good-bg: #14301f; --bad-bg: #3a1a18; --so-bg: #33290f } }
* { box-sizing: border-box }
body { margin: 0; background: var(--paper); color: var(--ink); font: 15px/1.55 system-ui, -apple-system, "Segoe UI", sans-serif }
main { max-width: 1080px; margin: 0 auto; padding: 28px 20px 60px }
header, section { background: var(--card); border: 1px solid var(--line); border-radius: 12px; padding: 20px 24px; margin-bottom: 16px }
h1 { font-size: 22px; line-height: 1.35; margin: 10px 0; overflow-wrap: anywhere; text-wrap: balance } h2 { font-size: 16px; margin: 0 0 12px }
h3 { font-size: 15px; margin: 0 0 2px; display: flex; flex-wrap: wrap; align-items: center; gap: 6px }
p { margin: 4px 0; overflow-wrap: anywhere } a { color: var(--link) } code, pre { font-family: ui-monospace, SFMono-Regular, Menlo, Consolas, monospace }
.goal { white-space: pre-wrap; color: var(--dim) } .name { display: flex; flex-wrap: wrap; gap: 8px; align-items: center; margin: 0 }
.dim, dt, footer { color: var(--dim); font-weight: normal } .good { color: var(--good) } .bad { color: var(--bad) } .so-so { color: var(--so) }
.badge, .pill { font-size: 12.5px; font-weight: 600; line-height: 1.5; border-radius: 99px; padding: 1px 10px; white-space: nowrap } .pill { font-weight: 400; border-radius: 6px; padding: 1px 7px }
.box { border-radius: 8px; padding: 10px 14px; margin: 12px 0 } .box.good, .badge.good, .pill.good, .strip .good { background: var(--good-bg) }
.box.so-so, .badge.so-so, .pill.so-so, .strip .so-so { background: var(--so-bg) } .box.bad, .badge.bad, .pill.bad, .strip .bad { background: var(--bad-bg) } .box .goal { color: inherit }
dl { display: grid; grid-template-columns: repeat(auto-fit, minmax(118px, 1fr)); gap: 12px 16px; margin: 18px 0 0; padding-top: 16px; border-top: 1px solid var(--line) }
dt { font-size: 12.5px } dd { margin: 0; font-weight: 600; font-variant-numeric: tabular-nums }
.strip { list-style: none; display: flex; flex-wrap: wrap; gap: 5px; padding: 0; margin: 0 }
.strip li { border-radius: 6px; min-width: 40px; text-align: center; font-size: 13px; font-variant-numeric: tabular-nums } .strip a { color: inherit; text-decoration: none; display: block; padding: 4px 6px } .strip b { display: block; font-size: 15px; line-height: 1.1 }
.strip a:hover, .strip a:focus-visible { outline: 2px solid currentColor; border-radius: 6px }
.strip .wait { color: var(--dim); padding: 10px 8px; background: repeating-linear-gradient(45deg, var(--soft) 0 5px, transparent 5px 10px); border: 1px dashed var(--line) }
.charts { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 380px), 1fr)); gap: 24px } figure { margin: 0; min-width: 0; max-width: 560px } figcaption { font-size: 13px; margin-bottom: 6px } figure svg { display: block; width: 100%; height: auto; max-height: 220px }
svg line { stroke: var(--line) } svg rect { fill: currentColor; opacity: .78 } svg text { fill: var(--dim); font-size: 11px; text-anchor: middle }
.scroll { overflow-x: auto } table { border-collapse: collapse; font-size: 13.5px; min-width: 100% } th, td { text-align: left; padding: 6px 14px 6px 0; border-bottom: 1px solid var(--line); vertical-align: top; white-space: nowrap; font-variant-numeric: tabular-nums } thead th { color: var(--dim); font-weight: 500 } tbody tr:last-child > * { border-bottom: 0 }
td.wide { white-space: normal; min-width: 240px; width: 100% } th.n, td.n { text-align: right } .grid { min-width: 0 } .grid td, .grid thead th { text-align: center; padding: 5px 9px; min-width: 34px } .grid tbody th { font-weight: 400 }
.steps { list-style: none; padding: 0; margin: 0 } .steps li { display: flex; gap: 10px; padding: 3px 0 } .steps div { min-width: 0; overflow-wrap: anywhere } .completed b { color: var(--good) } .step { color: var(--dim); border-left: 3px solid var(--line); padding-left: 10px; margin: 6px 0 }
article { border-top: 1px solid var(--line); padding: 16px 0; scroll-margin-top: 12px } article:last-child { padding-bottom: 0 } article:target { background: var(--soft); margin: 0 -24px; padding-left: 24px; padding-right: 24px }
details { margin: 8px 0 0 } summary { cursor: pointer; width: fit-content; font-size: 14px } summary:hover { color: var(--link) }
pre { background: var(--soft); border-radius: 8px; margin: 8px 0 0; padding: 12px 14px; overflow: auto; font-size: 12.5px; line-height: 1.5; max-height: 70vh; tab-size: 2 }
pre span.good { background: var(--good-bg) } pre span.bad { background: var(--bad-bg) } pre span.file { font-weight: 700 }
footer { font-size: 13px; text-align: center; margin-top: 24px }
@media (max-width: 560px) { main { padding: 12px 10px 40px } header, section { padding: 16px; border-radius: 10px } h1 { font-size: 19px } dl { grid-template-columns: repeat(2, 1fr) } article:target { margin: 0 -16px; padding-left: 16px; padding-right: 16px } }
@media print { body { background: none } header, section { border: 0; padding: 8px 0; break-inside: auto } details { display: none } }
`,
}
