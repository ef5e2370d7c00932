export const begun = true
