import { findNearestWord } from '../../contract/text.ts'

export const didYouMean = (word: string, known: Iterable<string>): { readonly hint?: string } => {
  const meant = findNearestWord(word, known)
  return meant === undefined ? {} : { hint: `did you mean "${meant}"?` }
}
