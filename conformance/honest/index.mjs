import { changed } from './changes.mjs'
import { everyday } from './everyday.mjs'
import { added } from './features.mjs'
import { fixedOthers } from './fixes-others.mjs'
import { fixed } from './fixes.mjs'
import { published } from './npm.mjs'
import { ordinary } from './ordinary.mjs'
import { places } from './places.mjs'

export const honest = [
  ...fixed,
  ...fixedOthers,
  ...added,
  ...changed,
  ...places,
  ...everyday,
  ...ordinary,
  ...published,
]
