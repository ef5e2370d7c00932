/** Viewers: this many concurrent event streams, read as fast as they arrive. */
import { Agent, get } from 'node:http'

const [, , count, origin, token] = process.argv
const agent = new Agent({ maxSockets: Infinity })
const seen = { frames: 0 }

const open = () =>
  new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${token}`, accept: 'text/event-stream' }
    get(`${origin}/api/events`, { agent, headers }, (response) => {
      if (response.statusCode !== 200) return reject(new Error(`${response.statusCode}`))
      resolve()
      response.setEncoding('utf8')
      response.on('data', (text) => (seen.frames += text.split('\n\n').length - 1))
    }).on('error', reject)
  })
for (let opened = 0; opened < Number(count); opened += 20) await Promise.all(Array.from({ length: 20 }, open))
seen.frames = 0
process.on('message', () => process.send({ frames: Math.round(seen.frames / Number(count)) }))
process.send('ready')
