import { memo } from 'react'
import Markdown, { type Components } from 'react-markdown'

/** Longer texts are shown as plain text: formatting does not help at that length. */
const longest = 20_000

/** Images would send requests anywhere, so only their names are shown. Links open in a new tab without a referrer. */
const components: Components = {
  a: ({ href, children }) => (
    <a href={href} target="_blank" rel="noreferrer noopener nofollow">
      {children}
    </a>
  ),
  img: ({ alt, src }) => <span className="text-faint">[image: {alt ?? (typeof src === 'string' ? src : '')}]</span>,
}

/** An agent's Markdown. HTML in it is shown as text. */
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
