// The service worker of the page: shows notifications while no page is open, and sends answers from them. It caches nothing.
self.addEventListener('install', () => self.skipWaiting())
self.addEventListener('activate', (event) => event.waitUntil(self.clients.claim()))

self.addEventListener('push', (event) => {
  event.waitUntil(show(event.data ? event.data.json() : { title: 'Ralph', text: 'Something needs you' }))
})

self.addEventListener('notificationclick', (event) => {
  const { data } = event.notification
  event.notification.close()
  const answer = data.answers?.[Number(event.action.replace('answer-', ''))]
  const answers = event.action.startsWith('answer-') && answer !== undefined
  event.waitUntil(answers ? sendAnswer(data, answer) : openPage(data.path))
})

function show({ title, text, tag, path = '/', sprintId, questionId, answers = [] }) {
  return self.registration.showNotification(title, {
    body: text,
    tag,
    icon: '/icon-192.png',
    badge: '/icon-192.png',
    data: { path, sprintId, questionId, title, answers },
    requireInteraction: answers.length > 0,
    // Platforms show two buttons; without buttons a click opens the page.
    actions: answers.slice(0, 2).map((answer, number) => ({ action: `answer-${number}`, title: answer })),
  })
}

async function sendAnswer({ sprintId, questionId, title, path }, answer) {
  const response = await fetch(`/api/sprints/${sprintId}/answer`, {
    method: 'POST',
    credentials: 'same-origin',
    headers: { 'content-type': 'application/json', 'idempotency-key': crypto.randomUUID() },
    body: JSON.stringify({ answer, questionId }),
  }).catch(() => undefined)
  if (response?.ok) return
  const problem = await response?.json().catch(() => undefined)
  const reason = problem?.title ?? 'the backend cannot be reached'
  await show({ title, text: `Your answer was not accepted: ${reason}`, tag: `refused-${sprintId}`, path })
}

async function openPage(path) {
  const windows = await self.clients.matchAll({ type: 'window', includeUncontrolled: true })
  const open = windows.find((client) => new URL(client.url).pathname === path) ?? windows[0]
  if (!open) return self.clients.openWindow(path)
  if (new URL(open.url).pathname !== path) await open.navigate(path).catch(() => undefined)
  return open.focus()
}
