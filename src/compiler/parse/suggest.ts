import { nearest } from '../../contract/nearest.ts'

export const didYouMean = (word: string, known: Iterable<string>): { readonly hint?: string } => {
  const meant = nearest(word, known)
  return meant === undefined ? {} : { hint: `did you mean "${meant}"?` }
}
