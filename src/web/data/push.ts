import { api } from './api.ts'

type WorkerPolicy = { readonly createScriptURL: (url: string) => string }
type TrustedTypes = { readonly createPolicy: (name: string, rules: WorkerPolicy) => WorkerPolicy }

declare global {
  // Not in TypeScript's library, and not in every browser.
  interface Window {
    readonly trustedTypes?: TrustedTypes
  }
}

const workerPath = '/sw.js'
/** The content security policy names this one policy. It allows one script, whatever text it gets. */
const workerPolicy = window.trustedTypes?.createPolicy('ralph-service-worker', { createScriptURL: () => workerPath })

/** A browser with service workers and a push service; both need https, or this computer. */
export const canPush = (): boolean => 'serviceWorker' in navigator && 'PushManager' in window

const findSubscription = async (): Promise<PushSubscription | null> => {
  const worker = await navigator.serviceWorker.getRegistration('/')
  return (await worker?.pushManager.getSubscription()) ?? null
}

export const isPushed = async (): Promise<boolean> => canPush() && (await findSubscription()) !== null

/** Subscribes this browser. Rejects if the browser has no push service, or cannot reach it. */
export async function subscribeToPush(): Promise<void> {
  const { publicKey } = await api.getPushKey({})
  await navigator.serviceWorker.register(workerPolicy?.createScriptURL('') ?? workerPath)
  const worker = await navigator.serviceWorker.ready
  const subscription = await worker.pushManager.subscribe({ userVisibleOnly: true, applicationServerKey: publicKey })
  const { endpoint = '', keys } = subscription.toJSON()
  try {
    await api.subscribeToPush({ endpoint, keys: { p256dh: keys?.['p256dh'] ?? '', auth: keys?.['auth'] ?? '' } })
  } catch (error) {
    await subscription.unsubscribe()
    throw error
  }
}

export async function unsubscribeFromPush(): Promise<void> {
  if (!canPush()) return
  const subscription = await findSubscription()
  if (!subscription) return
  await api.unsubscribeFromPush({ endpoint: subscription.endpoint })
  await subscription.unsubscribe()
}
