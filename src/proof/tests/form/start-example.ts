/** Names a Rust function that carries an example of the start. `item` is what the example documented: empty for a file. */
export const nameStartExample = (item: string): string => `start_example_${Buffer.from(item).toString('hex')}`

/** The name that rustdoc gave the example at the start; any other name as it is. */
export function readStartExample(name: string): string {
  const [, modules, item] = /^(.*::)?start_example_([0-9a-f]*)_\d+$/.exec(name) ?? []
  if (item === undefined) return name
  return `${modules ?? ''}${Buffer.from(item, 'hex').toString()}`.replace(/::$/, '')
}
