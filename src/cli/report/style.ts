import type { Html } from './html.ts'

/** The whole look of the report, in both colour schemes. */
export const style: Html = {
  html: `
:root { color-scheme: light dark; --ink: #1c2024; --dim: #6b7280; --paper: #fff; --line: #d9dde3; --good: #1a7f37; --bad: #c62828; --so: #9a6700; --soft: #f5f6f8 }
@media (prefers-color-scheme: dark) { :root { --ink: #e6e8eb; --dim: #9aa3ad; --paper: #14171a; --line: #30363d; --good: #4cc36a; --bad: #ff7b72; --so: #e0b341; --soft: #1c2126 } }
body { margin: 0; background: var(--paper); color: var(--ink); font: 15px/1.5 system-ui, sans-serif }
main { max-width: 1100px; margin: 0 auto; padding: 24px 20px 80px }
h1 { font-size: 26px; margin: 0 0 8px } h2 { font-size: 18px; margin: 36px 0 10px } h3 { font-size: 15px; margin: 0 0 4px }
p { margin: 4px 0; overflow-wrap: anywhere } .goal { white-space: pre-wrap }
.dim, dt { color: var(--dim); font-weight: normal } .good { color: var(--good) } .bad { color: var(--bad) } .so-so { color: var(--so) }
.badge { font-size: 14px; border: 1px solid currentColor; border-radius: 12px; padding: 1px 10px; vertical-align: middle }
dl { display: flex; flex-wrap: wrap; gap: 8px 32px } dl div { min-width: 90px } dt { font-size: 12px } dd { margin: 0; font-weight: 600 }
.strip { list-style: none; display: flex; flex-wrap: wrap; gap: 4px; padding: 0; margin: 0 }
.strip li { border: 1px solid var(--line); border-radius: 4px; min-width: 34px; text-align: center; padding: 2px 4px; font-size: 13px }
.strip a { color: inherit; text-decoration: none; display: block } .strip b { margin-left: 2px }
.wait { color: var(--dim); background: repeating-linear-gradient(45deg, var(--soft) 0 4px, transparent 4px 8px) }
figure { margin: 0 0 16px; overflow-x: auto } figcaption { font-size: 13px; margin-bottom: 4px }
svg line { stroke: var(--line) } svg rect { fill: currentColor } svg text { fill: var(--dim); font-size: 10px; text-anchor: middle }
.scroll { overflow-x: auto } table { border-collapse: collapse; font-size: 13px } th, td { text-align: left; padding: 3px 10px 3px 0; border-bottom: 1px solid var(--line); vertical-align: top }
.n { text-align: right; white-space: nowrap } .grid td, .grid thead th { text-align: center; padding: 3px 6px }
.steps { list-style: none; padding: 0 } .completed b { color: var(--good) }
article { border-top: 1px solid var(--line); padding: 12px 0 } article:target { background: var(--soft) }
details { margin: 6px 0 } summary { cursor: pointer }
pre { background: var(--soft); padding: 10px; overflow-x: auto; font: 12px/1.45 ui-monospace, monospace; max-height: 70vh }
@media print { details { display: none } }
`,
}
