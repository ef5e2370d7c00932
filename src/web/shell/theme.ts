import { useState } from 'react'

export type Theme = 'system' | 'light' | 'dark'

const key = 'ralph.theme'

const isTheme = (value: string | null): value is 'light' | 'dark' => value === 'light' || value === 'dark'

function readTheme(): Theme {
  const kept = localStorage.getItem(key)
  return isTheme(kept) ? kept : 'system'
}

/** Chosen by the user, else by the system; `public/begin.js` applies it before the first paint. */
export function useTheme(): readonly [Theme, (theme: Theme) => void] {
  const [theme, setTheme] = useState(readTheme)
  const choose = (next: Theme): void => {
    setTheme(next)
    if (next === 'system') {
      localStorage.removeItem(key)
      delete document.documentElement.dataset['theme']
    } else {
      localStorage.setItem(key, next)
      document.documentElement.dataset['theme'] = next
    }
  }
  return [theme, choose]
}
