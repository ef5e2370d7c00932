import { findNearestWord } from '../../contract/text.ts'

export const didYouMean = (word: string, known: Iterable<string>): { readonly hint?: string } => {
  const suggestion = findNearestWord(word, known)
  return suggestion === undefined ? {} : { hint: `did you mean "${suggestion}"?` }
}
