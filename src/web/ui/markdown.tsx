import { memo } from 'react'
import Markdown, { type Components } from 'react-markdown'

/** Longer texts are shown as they are: nobody reads them for their headings. */
const longest = 20_000

/** Pictures would be requests to anywhere; they are named instead. Links open elsewhere and tell nothing about this page. */
const components: Components = {
  a: ({ href, children }) => (
    <a href={href} target="_blank" rel="noreferrer noopener nofollow">
      {children}
    </a>
  ),
  img: ({ alt, src }) => <span className="text-faint">[picture: {alt ?? (typeof src === 'string' ? src : '')}]</span>,
}

/** What an agent wrote. No HTML in it is ever HTML here. */
export const MarkdownText = memo(({ text }: { text: string }) => (
  <div className="prose-text">
    {text.length > longest ? (
      <p className="whitespace-pre-wrap">{text}</p>
    ) : (
      <Markdown skipHtml={false} components={components}>
        {text}
      </Markdown>
    )}
  </div>
))
