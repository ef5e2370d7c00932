import { useEffect } from 'react'
import type { FleetChange } from '../../contract/fleet/event.ts'
import type { SprintQuestion } from '../../contract/fleet/question.ts'
import { api } from './api.ts'
import { subscribeToChanges } from './live.ts'

const key = 'ralph.notify'

export const canNotify = (): boolean => 'Notification' in window

export const wantsNotifications = (): boolean =>
  canNotify() && Notification.permission === 'granted' && localStorage.getItem(key) === 'on'

export async function askForNotifications(): Promise<boolean> {
  if (!canNotify()) return false
  const granted = (await Notification.requestPermission()) === 'granted'
  localStorage.setItem(key, granted ? 'on' : 'off')
  return granted
}

export const dropNotifications = (): void => localStorage.setItem(key, 'off')

/** Notifies about new questions that the user does not already see, and reports the result to the backend. */
export function useNotifications(): void {
  useEffect(
    () =>
      subscribeToChanges((changes) => {
        if (!wantsNotifications()) return
        for (const question of newQuestions(changes)) showNotification(question)
      }),
    [],
  )
}

const newQuestions = (changes: readonly FleetChange[]): SprintQuestion[] =>
  changes.flatMap((change) =>
    change.type === 'question' && change.question.status === 'open' ? [change.question] : [],
  )

function showNotification(question: SprintQuestion): void {
  const { sprintId } = question
  if (document.hasFocus() && location.pathname.includes(sprintId)) {
    recordDelivery({ sprintId, status: 'suppressed', error: 'its page is visible' })
    return
  }
  try {
    const shown = new Notification(`${question.agentName} asks`, { body: question.reason, tag: question.id })
    shown.addEventListener('click', () => {
      window.focus()
      location.assign(`/sprints/${sprintId}`)
    })
    recordDelivery({ sprintId, status: 'sent' })
  } catch (error) {
    recordDelivery({ sprintId, status: 'failed', error: String(error) })
  }
}

function recordDelivery(what: { sprintId: string; status: 'sent' | 'suppressed' | 'failed'; error?: string }): void {
  void api.recordDelivery({ event: 'needs-human', ...what }).catch(() => undefined)
}
