// The clock of a machine that is two hours late, as its programs see it: `node --require` this.
const late = 2 * 3_600_000
const RightDate = Date
globalThis.Date = class extends RightDate {
  constructor(...args) {
    if (args.length === 0) super(RightDate.now() - late)
    else super(...args)
  }
  static now() {
    return RightDate.now() - late
  }
}
