import { h, useEffect, useState } from './preact'
import { about, get, live, post } from './api'
import { plural } from './format'
import { href } from './route'
import { Shown } from './main'

// Hint is something that was hidden and that the agent then fetched again.
export interface Hint { message: number; part: number; about: string; again: number; tokens: number }

// PinHints say what to pin, where that would have helped.
export function PinHints({ shown }: { shown: Shown }) {
  const d = shown.detail
  const [hints, set] = useState<Hint[]>([])
  useEffect(() => {
    let over = false
    if (!d.readable || !about.hints) return
    get<{ hints: Hint[] }>(`conversations/${encodeURIComponent(d.id)}/hints`).then((r) => over || set(r.hints), shown.complain)
    return () => { over = true }
  }, [d.id, d.revision])
  const open = hints.filter((x) => !d.pinned.some((p) => p.message === x.message && (p.part < 0 || p.part === x.part)))
  if (open.length === 0) return null
  const pin = async (x: Hint) => {
    try {
      const done = await post<{ say: string }>(`conversations/${encodeURIComponent(d.id)}/pin`, { plan: d.plan, message: x.message, part: x.part })
      await shown.reload(done.say)
    } catch (err) { shown.complain(err) }
  }
  return <ul class="hints" aria-label="Worth pinning">
    {open.map((x) => <li key={`${x.message}.${x.part}`}>
      Pin <a href={href({ id: d.id, tab: 'messages', arg: String(x.message) })}>message {x.message}</a>, <code>{x.about}</code>: it was hidden and fetched again {plural(x.again, 'time')}.
      {live && <button type="button" onClick={() => pin(x)}>Pin</button>}
    </li>)}
  </ul>
}
