import { h, useEffect, useState } from './preact'
import { Detail, live, Message, messages, post } from './api'
import { bytes, num, plural } from './format'
import { href, Route } from './route'
import { Shown } from './main'
import { Original } from './original'

const step = 50

// MessageList is the history, a page at a time, with what became of each message.
export function MessageList({ shown, route }: { shown: Shown; route: Route }) {
  const d = shown.detail
  const want = Math.max(0, Math.min(Number(route.arg) || 0, Math.max(0, d.messages - 1)))
  const from = want - (want % step)
  const to = Math.min(from + step, d.messages)
  const at = (n: number) => href({ id: d.id, tab: 'messages', arg: String(Math.max(0, n)) })
  return <section aria-labelledby="messages-title">
    <h2 id="messages-title">Messages {num(from)}–{num(Math.max(from, to - 1))} of {num(d.messages)}</h2>
    <nav class="pager" aria-label="Pages of messages">
      {from > 0 && <a href={at(0)}>First</a>} {from > 0 && <a href={at(from - step)}>Earlier</a>} {to < d.messages && <a href={at(to)}>Later</a>} {to < d.messages && <a href={at(d.messages - 1)}>Last</a>}
    </nav>
    <Stretch shown={shown} from={from} to={to} mark={route.arg ? want : undefined} />
  </section>
}

// Stretch shows messages from one to another.
export function Stretch({ shown, from, to, mark }: { shown: Shown; from: number; to: number; mark?: number }) {
  const d = shown.detail
  const [list, set] = useState<Message[] | null>(null)
  useEffect(() => {
    let over = false
    messages(d.id, from, to).then((list) => over || set(list), (err) => over || shown.complain(err))
    return () => { over = true }
  }, [d.id, d.revision, from, to])
  useEffect(() => {
    if (list && mark !== undefined) document.getElementById(`m${mark}`)?.scrollIntoView({ block: 'center' })
  }, [list, mark])
  if (!list) return <p class="quiet">Reading…</p>
  return <ol class="messages">{list.map((m) => <One key={m.message} m={m} shown={shown} marked={m.message === mark} />)}</ol>
}

function One({ m, shown, marked }: { m: Message; shown: Shown; marked: boolean }) {
  const [open, show] = useState('')
  return <li id={`m${m.message}`} class={`message is-${m.shown}${marked ? ' mark' : ''}`}>
    <div class="head">
      <b>{m.message}</b> <span class="role">{m.role}</span> <span class="facts">{num(m.tokens)} tokens</span>
      <span class={`fate is-${m.shown}`}>{m.shown}</span>
      <PinButton shown={shown} message={m.message} part={-1} />
    </div>
    {m.parts.map((p) => <div class="part" key={p.part}>
      {(p.kind !== 'text' || p.name) && <span class="facts">{[p.kind.replace('_', ' '), p.name].filter(Boolean).join(' ')}</span>}
      {p.text !== undefined && <pre>{p.text}{p.bytes > new TextEncoder().encode(p.text).length ? '…' : ''}</pre>}
      {p.handle && <button type="button" aria-expanded={open === p.handle} onClick={() => show(open === p.handle ? '' : p.handle!)}>{open === p.handle ? 'Hide' : 'Show'} the original, {bytes(p.bytes)}</button>}
      {p.handle && open === p.handle && <Original handle={p.handle} complain={shown.complain} />}
    </div>)}
  </li>
}

const pinned = (d: Detail, message: number, part: number) => d.pinned.some((p) => p.message === message && p.part === part)

// PinButton keeps a message or a part of one from every stage, or lets it go.
export function PinButton({ shown, message, part: of }: { shown: Shown; message: number; part: number }) {
  const d = shown.detail
  const part = d.source === 'session' ? -1 : of // a session pins whole messages
  const [busy, set] = useState(false)
  const on = pinned(d, message, part)
  if (!live) return on ? <span class="pinned">pinned</span> : null
  const act = async () => {
    set(true)
    try {
      const done = await post<{ say: string }>(`conversations/${encodeURIComponent(d.id)}/${on ? 'unpin' : 'pin'}`, { plan: d.plan, message, part })
      await shown.reload(done.say)
    } catch (err) { shown.complain(err) }
    set(false)
  }
  const what = part >= 0 ? `message ${message} part ${part}` : plural(1, 'message').replace('1 ', '') + ` ${message}`
  return <button type="button" class="pin" aria-pressed={on} disabled={busy} onClick={act} aria-label={`${on ? 'Unpin' : 'Pin'} ${what}`}>{on ? 'Unpin' : 'Pin'}</button>
}
