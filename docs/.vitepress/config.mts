import { posix } from 'node:path'
import { defineConfig, type MarkdownRenderer } from 'vitepress'
import { sidebar } from './sidebar.mts'

const forge = 'https://github.com/ralph-mode/ralph-mode'

export default defineConfig({
  title: 'Ralph Mode',
  description: 'Run a coding agent in a loop until checks that Ralph itself runs prove that the goal is reached.',
  lang: 'en',
  outDir: '../.cache/docs',
  cacheDir: '../.cache/vitepress',
  markdown: {
    theme: { light: 'github-light-high-contrast', dark: 'github-dark-high-contrast' },
    config: (md) => {
      escapeBraces(md)
      linkToForge(md)
    },
  },
  themeConfig: {
    search: { provider: 'local' },
    sidebar,
    nav: sidebar.map(({ text, items: [first] }) => ({ text, link: first.link })),
    outline: [2, 3],
    socialLinks: [{ icon: 'github', link: forge }],
  },
})

/** Vue would evaluate {{…}}, which is template syntax of workflows here. */
function escapeBraces(md: MarkdownRenderer): void {
  for (const name of ['text', 'code_inline'] as const) {
    const render = md.renderer.rules[name]
    md.renderer.rules[name] = (...args) => (render?.(...args) ?? '').replaceAll('{{', '&#123;&#123;')
  }
}

/** Files that the site does not have, such as AGENTS.md or an example, open on the forge. */
function linkToForge(md: MarkdownRenderer): void {
  md.core.ruler.push('link-to-forge', ({ tokens, env }) => {
    for (const token of tokens.flatMap(({ children }) => children ?? [])) {
      const href = token.attrGet('href')
      if (token.type !== 'link_open' || href === null || /^(?:[a-z]+:|#)/.test(href)) continue
      const target = posix.join('docs', posix.dirname(String(env.relativePath)), href)
      const isPage = target.startsWith('docs/') && /\.md(?:#|$)/.test(target)
      if (!isPage) token.attrSet('href', `${forge}/blob/main/${target}`)
    }
  })
}
