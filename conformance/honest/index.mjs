import { changed } from './changes.mjs'
import { added } from './features.mjs'
import { fixed } from './fixes.mjs'
import { published } from './npm.mjs'

export const honest = [...fixed, ...added, ...changed, ...published]
