/** More than two hundred names with which an attacker could hope to reach another folder. */
export function traversals(): string[] {
  const ups = [
    '..',
    '../',
    '../..',
    '../../../../etc/passwd',
    '..\\..\\windows',
    './../x',
    'a/../../x',
    'x/..',
    '/..',
    '/',
  ]
  const dots = [
    '.',
    '..',
    '...',
    '. .',
    '.. ',
    ' ..',
    '..\u200b',
    '\u2024\u2024',
    '\uff0e\uff0e',
    '\u2025',
    '․․/',
    '‥/x',
  ]
  const slashes = ['\u2215', '\u2044', '\uff0f', '\u29f8', '\\', '\u005c', '\u2216', '\uff3c']
  const encoded = [
    '%2e%2e',
    '%2e%2e%2f',
    '..%2f',
    '..%5c',
    '%252e%252e%252f',
    '..%c0%af',
    '..%00/',
    '%c0%ae%c0%ae/',
    '..;/',
  ]
  const nested = ['a', 'b/c', '.x'].flatMap((name) =>
    ['/', '/..', '/../..', '\\..', '//', '/./x'].map((end) => name + end),
  )
  const absolute = [
    '/etc/passwd',
    '/proc/self/environ',
    '//host/share',
    'C:\\x',
    'c:/x',
    '\\\\?\\C:\\x',
    'file:///etc/passwd',
  ]
  const controls = ['\0', '\n', '\r', '\t', '\u001b', '\u007f', '\u0085', '\u2028', '\u202e', '\ufeff']
  const windows = ['CON', 'nul', 'com1', 'aux.txt', 'x.', 'x ', 'x::$DATA', 'LPT9']
  const shells = [
    '~',
    '~root',
    '$HOME',
    '${HOME}',
    '$(id)',
    '`id`',
    '-rf',
    '--help',
    '*',
    '?',
    '[a]',
    '{a,b}',
    '|x',
    ';x',
    '&x',
    '>x',
  ]
  const objects = ['__proto__', 'constructor', 'toString', 'hasOwnProperty', 'prototype', '__defineGetter__']
  const long = ['x'.repeat(300), '../'.repeat(100), 'é'.repeat(200), '\u{1f600}'.repeat(100)]
  const joined = slashes.flatMap((slash) => [`..${slash}x`, `a${slash}..${slash}x`, `${slash}etc${slash}passwd`])
  const hidden = ['.git', '.claude', '.ssh/id', '.lock', 'journal', 'attempts', '.env', '.gitignore']
  const inside = ['../', '/', '..\\'].flatMap((up) => controls.map((control) => `${up}${control}x`))
  const wrapped = ['a', 'sprint-1'].flatMap((name) => controls.map((control) => `${name}${control}`))
  const behind = [...ups, ...encoded].flatMap((up) => [`ok/${up}`, `${up}ok`])
  const all = [
    ups,
    dots,
    encoded,
    absolute,
    windows,
    shells,
    objects,
    long,
    joined,
    hidden,
    inside,
    wrapped,
    nested,
    behind,
    [''],
  ]
  return [...new Set(all.flat())]
}
