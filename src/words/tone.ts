/** What a colour means, on the page and in the terminal. */
export type Tone = 'ok' | 'warn' | 'bad' | 'info' | 'accent' | 'quiet'
