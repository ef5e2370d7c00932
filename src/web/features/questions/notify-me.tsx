import { Bell, BellOff, BellRing } from 'lucide-react'
import { useEffect, useState } from 'react'
import { describeError } from '../../data/api.ts'
import {
  askForNotifications,
  canNotify,
  dropNotifications,
  readNotificationMode,
  type NotificationMode,
} from '../../data/notifications.ts'
import { Button } from '../../ui/button.tsx'
import { toast } from '../../ui/toast.tsx'

const looks = {
  off: { icon: BellOff, label: 'Notify me in this browser' },
  blocked: { icon: BellOff, label: 'Notify me in this browser' },
  page: { icon: Bell, label: 'Notifies you while a page is open' },
  push: { icon: BellRing, label: 'This browser notifies you' },
} as const

/** Browser notifications, on request only. */
export function NotifyMe() {
  const [mode, setMode] = useState<NotificationMode>('off')
  useEffect(() => void readNotificationMode().then(setMode), [])
  if (!canNotify()) return null
  const on = mode === 'push' || mode === 'page'
  const toggle = async (): Promise<void> => {
    try {
      if (on) await dropNotifications()
      const next = on ? 'off' : await askForNotifications()
      setMode(next)
      if (next === 'blocked')
        toast({ title: 'This browser blocks notifications', detail: 'Allow them in its settings.' })
    } catch (error) {
      toast({ ...describeError(error), bad: true })
    }
  }
  const { icon: Icon, label } = looks[mode]
  return (
    <Button onClick={() => void toggle()} aria-pressed={on}>
      <Icon aria-hidden className="size-3.5" /> {label}
    </Button>
  )
}
