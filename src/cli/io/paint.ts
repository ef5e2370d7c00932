const styles = { bold: 1, dim: 2, red: 31, green: 32, yellow: 33, blue: 34, magenta: 35, cyan: 36 } as const

export type TerminalPaint = Readonly<Record<keyof typeof styles, (text: string) => string>>

export function createPaint(useColor: boolean): TerminalPaint {
  const style = (code: number) => (text: string) => (useColor ? `\u001b[${code}m${text}\u001b[0m` : text)
  return {
    bold: style(styles.bold),
    dim: style(styles.dim),
    red: style(styles.red),
    green: style(styles.green),
    yellow: style(styles.yellow),
    blue: style(styles.blue),
    magenta: style(styles.magenta),
    cyan: style(styles.cyan),
  }
}

// oxlint-disable no-control-regex -- output of an agent or a file must not control the terminal that shows it
const ourColors = /\u001b\[(?:0|1|2|3[1-6])m/
const unsafeSequences =
  /\u001b(?:\][^\u0007\u001b]{0,4096}(?:\u0007|\u001b\\)?|\[[0-?]*[ -/]*[@-~]|[PX^_][^\u001b]{0,4096}(?:\u001b\\)?|[ -~])?|(?![\n\t])[\u0000-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g

/** Removes every control sequence except the colours above. The last line of defence, applied to whole lines. */
export const stripControlSequences = (text: string): string =>
  text.replaceAll(unsafeSequences, (found) => (ourColors.test(found) ? found : ''))
