import { findNearestWord } from '../../contract/nearest.ts'

export const didYouMean = (word: string, known: Iterable<string>): { readonly hint?: string } => {
  const meant = findNearestWord(word, known)
  return meant === undefined ? {} : { hint: `did you mean "${meant}"?` }
}
