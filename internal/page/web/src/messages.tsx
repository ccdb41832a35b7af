import { h, useEffect, useState } from './preact'
import { Detail, live, Message, Messages, messages, post } from './api'
import { bytes, num, plural } from './format'
import { go, href, Route } from './route'
import { Shown } from './main'
import { Original } from './original'

const step = 50

const filters: [string, string, string[]][] = [['role', 'from', ['user', 'assistant', 'tool', 'system']], ['shown', 'that is', ['kept', 'reduced', 'hidden']]]

// MessageList is the history, a page at a time, with what became of each message.
// The address holds what is filtered by.
export function MessageList({ shown, route }: { shown: Shown; route: Route }) {
  const d = shown.detail
  const want = Math.max(0, Math.min(Number(route.arg) || 0, Math.max(0, d.messages - 1)))
  const from = route.find ? want : want - (want % step)
  const list = useMessages(shown, from, step, route.find)
  const q = new URLSearchParams(route.find)
  const at = (n: number) => href({ id: d.id, tab: 'messages', arg: String(Math.max(0, n)), find: route.find })
  const by = (name: string, value: string) => {
    if (value) q.set(name, value)
    else q.delete(name)
    go({ id: d.id, tab: 'messages', find: q.toString() })
  }
  const choice = (name: string, label: string, values: string[]) => <label key={name}>{label} <select value={q.get(name) ?? ''} onChange={(e) => by(name, (e.target as HTMLSelectElement).value)}>
    <option value="">any</option>{values.map((v) => <option key={v} value={v}>{v}</option>)}
  </select></label>
  const to = Math.min(from + step, d.messages)
  return <section aria-labelledby="messages-title">
    <h2 id="messages-title">{route.find ? `${list ? num(list.fits) : '…'} of ${plural(d.messages, 'message')}` : `Messages ${num(from)}–${num(Math.max(from, to - 1))} of ${num(d.messages)}`}</h2>
    <div class="ask filters" role="group" aria-label="Filter messages">
      {filters.map(([name, label, values]) => choice(name, label, values))}
      {choice('tool', 'tool', list?.tools ?? [])}
      <label><input type="checkbox" checked={q.has('pinned')} onChange={() => by('pinned', q.has('pinned') ? '' : '1')} /> pinned</label>
    </div>
    <nav class="pager" aria-label="Pages of messages">
      {from > 0 && <a href={at(0)}>First</a>} {from > 0 && !route.find && <a href={at(from - step)}>Earlier</a>} {list?.next && <a href={at(list.next)}>Later</a>} {list?.next && !route.find && <a href={at(d.messages - 1)}>Last</a>}
    </nav>
    <Shelf list={list?.messages} shown={shown} mark={route.arg && !route.find ? want : undefined} />
  </section>
}

function useMessages(shown: Shown, from: number, limit: number, filter = '') {
  const d = shown.detail
  const [list, set] = useState<Messages | null>(null)
  useEffect(() => {
    let over = false
    messages(d.id, from, limit, filter).then((list) => over || set(list), (err) => over || shown.complain(err))
    return () => { over = true }
  }, [d.id, d.revision, from, limit, filter])
  return list
}

// Stretch shows messages from one to another.
export function Stretch({ shown, from, to }: { shown: Shown; from: number; to: number }) {
  return <Shelf list={useMessages(shown, from, to - from)?.messages} shown={shown} />
}

function Shelf({ list, shown, mark }: { list?: Message[]; shown: Shown; mark?: number }) {
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
