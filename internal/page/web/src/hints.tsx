import { h } from './preact'
import { Hint, live, post } from './api'
import { plural } from './format'
import { href } from './route'
import { Shown } from './main'

// PinHints say what to pin, where that would have helped.
export function PinHints({ shown }: { shown: Shown }) {
  const d = shown.detail
  const open = shown.hints.filter((x) => !d.pinned.some((p) => p.message === x.message && (p.part < 0 || p.part === x.part)))
  if (open.length === 0) return null
  const pin = async (x: Hint) => {
    try {
      const done = await post<{ say: string }>(`conversations/${encodeURIComponent(d.id)}/pin`, { plan: d.plan, message: x.message, part: d.source === 'session' ? -1 : x.part })
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
