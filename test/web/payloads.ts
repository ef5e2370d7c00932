/** Known payloads that try to make a page run what it should only show. Each calls `ralphHit`. */
const scripts = [
  '<script>ralphHit()</script>',
  '<ScRiPt>ralphHit()</sCrIpT>',
  '<script src="data:text/javascript,ralphHit()"></script>',
  '<img src=x onerror=ralphHit()>',
  '<img src=x onerror="ralphHit()">',
  '<svg onload=ralphHit()>',
  '<svg><script>ralphHit()</script></svg>',
  '<svg><animate onbegin=ralphHit() attributeName=x dur=1s>',
  '<body onload=ralphHit()>',
  '<iframe src="javascript:ralphHit()"></iframe>',
  '<iframe srcdoc="<script>parent.ralphHit()</script>"></iframe>',
  '<a href="javascript:ralphHit()" autofocus onfocus=ralphHit()>x</a>',
  '<details open ontoggle=ralphHit()>',
  '<input autofocus onfocus=ralphHit()>',
  '<video><source onerror=ralphHit()></video>',
  '<audio src=x onerror=ralphHit()>',
  '<object data="javascript:ralphHit()"></object>',
  '<embed src="javascript:ralphHit()">',
  '<math><mtext><table><mglyph><style><img src=x onerror=ralphHit()>',
  '<noscript><p title="</noscript><img src=x onerror=ralphHit()>">',
  '<style>@import "javascript:ralphHit()";</style>',
  '<link rel=stylesheet href="javascript:ralphHit()">',
  '<meta http-equiv=refresh content="0;url=javascript:ralphHit()">',
  '<base href="javascript:ralphHit()//">',
  '<form action="javascript:ralphHit()"><button>x</button></form>',
  '"><script>ralphHit()</script>',
  "'-ralphHit()-'",
  '</textarea><script>ralphHit()</script>',
  '</title><script>ralphHit()</script>',
  '<template><script>ralphHit()</script></template>',
]

const inMarkdown = [
  (payload: string) => payload,
  (payload: string) => `**bold** ${payload} \`code\``,
  (payload: string) => `\n\n${payload}\n\n`,
  (_: string, n: number) => `[click ${n}](javascript:ralphHit()) ![x](javascript:ralphHit()) <javascript:ralphHit()>`,
  (payload: string, n: number) =>
    `[r${n}]: data:text/html;base64,PHNjcmlwdD5yYWxwaEhpdCgpPC9zY3JpcHQ+\n\n[link][r${n}] | ${payload}`,
]

export const payloads: readonly string[] = inMarkdown.flatMap((wrap) => scripts.map((script, n) => wrap(script, n)))
