/** One turn that ends with a question. */
export const questionScenario = `turns:
  - say: The tests say nothing about rounding. A person has to decide.
    do:
      - read: test/pancakes.js
    report:
      status: needs-human
      summary: The rounding of eggs is a matter of taste.
      humanNeeded:
        reason: Half an egg, up or down?
        details: Five guests need 2 1/2 eggs. Both are easy, and no test says which one is meant.
        options: [up, down]
        default: up
`
