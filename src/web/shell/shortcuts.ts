import { useEffect } from 'react'
import { commandKey } from '../words/command-key.ts'

/** Keys of the whole page, as shown in the list of shortcuts. */
export const shortcuts = [
  { keys: `${commandKey}K`, what: 'Search and commands' },
  { keys: 'g f', what: 'Go to the fleet' },
  { keys: 'g n', what: 'Go to what needs you' },
  { keys: 'g m', what: 'Go to machines' },
  { keys: 'g s', what: 'Go to settings' },
  { keys: 'n', what: 'Start Ralph Mode' },
  { keys: '/', what: 'Search on this page' },
  { keys: 'j  k', what: 'Next or previous row or iteration' },
  { keys: 'f', what: 'Follow the transcript' },
  { keys: '?', what: 'Keyboard shortcuts' },
] as const

export type KeyHandlers = Readonly<Record<string, () => void>>

/** Single keys and sequences (`g f`), ignored while the user types. `mod+k` works everywhere. */
export function useKeys(handlers: KeyHandlers): void {
  useEffect(() => {
    let before = ''
    let forget: number | undefined
    const onKey = (event: KeyboardEvent): void => {
      if (event.defaultPrevented) return
      const pressed = combination(event)
      if (pressed === undefined) return
      const both = before === '' ? undefined : handlers[`${before} ${pressed}`]
      const handler = both ?? handlers[pressed]
      before = pressed
      window.clearTimeout(forget)
      forget = window.setTimeout(() => (before = ''), 900)
      if (!handler) return
      event.preventDefault()
      before = ''
      handler()
    }
    window.addEventListener('keydown', onKey)
    return () => window.removeEventListener('keydown', onKey)
  }, [handlers])
}

function combination(event: KeyboardEvent): string | undefined {
  if (event.metaKey || event.ctrlKey) return event.altKey ? undefined : `mod+${event.key.toLowerCase()}`
  if (event.altKey || isTyping(event.target)) return undefined
  return event.key
}

function isTyping(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false
  return target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName) || inOverlay(target)
}

/** Dialogs and menus have their own keys. */
const inOverlay = (target: HTMLElement): boolean => target.closest('[role=dialog],[role=menu],[role=listbox]') !== null
