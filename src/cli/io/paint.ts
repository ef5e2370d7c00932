const styles = { bold: 1, dim: 2, red: 31, green: 32, yellow: 33, blue: 34, magenta: 35, cyan: 36 } as const

export type TerminalPaint = Readonly<Record<keyof typeof styles, (text: string) => string>>

export function createPaint(color: boolean): TerminalPaint {
  const style = (code: number) => (text: string) => (color ? `\u001b[${code}m${text}\u001b[0m` : text)
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

// oxlint-disable no-control-regex -- what an agent or a file says must not steer the terminal that shows it
const ourColors = /\u001b\[(?:0|1|2|3[1-6])m/
const steering =
  /\u001b(?:\][^\u0007\u001b]{0,4096}(?:\u0007|\u001b\\)?|\[[0-?]*[ -/]*[@-~]|[PX^_][^\u001b]{0,4096}(?:\u001b\\)?|[ -~])?|(?![\n\t])[\u0000-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g

/** Removes every control sequence except the colours above. The last line of defence, applied to whole lines. */
export const stripControlSequences = (text: string): string =>
  text.replaceAll(steering, (found) => (ourColors.test(found) ? found : ''))
