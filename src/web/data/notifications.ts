import { useEffect } from 'react'
import type { FleetChange } from '../../contract/fleet/event.ts'
import type { SprintQuestion } from '../../contract/fleet/question.ts'
import { api } from './api.ts'
import { canPush, isPushed, subscribeToPush, unsubscribeFromPush } from './push.ts'
import { subscribeToChanges } from './live.ts'

const key = 'ralph.notify'

export const canNotify = (): boolean => 'Notification' in window

const wantsNotifications = (): boolean =>
  canNotify() && Notification.permission === 'granted' && localStorage.getItem(key) === 'on'

/** `push`: also while no page is open. `page`: only while one is, because this browser has no reachable push service. */
export type NotificationMode = 'off' | 'push' | 'page' | 'blocked'

export async function askForNotifications(): Promise<NotificationMode> {
  if (!canNotify()) return 'blocked'
  if ((await Notification.requestPermission()) !== 'granted') return 'blocked'
  try {
    if (!canPush()) throw new Error('no push service')
    await subscribeToPush()
    localStorage.setItem(key, 'off')
    return 'push'
  } catch {
    localStorage.setItem(key, 'on')
    return 'page'
  }
}

export async function dropNotifications(): Promise<void> {
  localStorage.setItem(key, 'off')
  await unsubscribeFromPush()
}

export async function readNotificationMode(): Promise<NotificationMode> {
  if (await isPushed()) return 'push'
  return wantsNotifications() ? 'page' : 'off'
}

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
