import { h, useEffect, useMemo, useState } from './preact'
import { Conversation, conversations, live } from './api'
import { num, percent, when } from './format'
import { go, href, Route } from './route'

interface Row { c: Conversation; depth: number }

// tree puts forks and sub-agents below what they branched off from, and keeps
// the order of what was used last.
function tree(all: Conversation[]): Row[] {
  const ids = new Set(all.map((c) => c.id))
  const below = new Map<string, Conversation[]>()
  const roots: Conversation[] = []
  for (const c of all) {
    if (c.parent && ids.has(c.parent)) below.set(c.parent, [...(below.get(c.parent) ?? []), c])
    else roots.push(c)
  }
  const rows: Row[] = []
  const seen = new Set<string>()
  const walk = (c: Conversation, depth: number) => {
    if (seen.has(c.id)) return
    seen.add(c.id)
    rows.push({ c, depth })
    for (const child of below.get(c.id) ?? []) walk(child, depth + 1)
  }
  roots.forEach((c) => walk(c, 0))
  all.forEach((c) => walk(c, 0)) // whatever stands in a circle
  return rows
}

export function List({ route, complain }: { route: Route; complain: (err: unknown) => void }) {
  const [all, set] = useState<Conversation[] | null>(null)
  const [waiting, wait] = useState<Conversation[] | null>(null)
  const [words, type] = useState('')
  const [find, look] = useState('')
  useEffect(() => {
    const later = setTimeout(() => look(words.trim()), words ? 200 : 0)
    return () => clearTimeout(later)
  }, [words])
  useEffect(() => {
    let over = false
    conversations(find).then((cs) => {
      if (over) return
      set(cs)
      wait(null)
      if (!route.id && !find && cs.length === 1) go({ id: cs[0].id }, true)
    }, (err) => over || complain(err))
    return () => { over = true }
  }, [find])
  // What is new waits until the reader asks for it.
  useEffect(() => {
    if (!live || !all) return
    const again = setInterval(() => {
      if (document.visibilityState !== 'visible') return
      conversations(find).then((cs) => wait(cs), () => {})
    }, 5000)
    return () => clearInterval(again)
  }, [all, find])
  const known = useMemo(() => new Set((all ?? []).map((c) => c.id)), [all])
  const fresh = (waiting ?? []).filter((c) => !known.has(c.id)).length
  const rows = useMemo(() => tree(all ?? []), [all])
  return <nav class="list" aria-label="Conversations">
    <label class="find">
      <span>Find a conversation <kbd>/</kbd></span>
      <input id="find" type="search" value={words} onInput={(e) => type((e.target as HTMLInputElement).value)} autocomplete="off" spellcheck={false} />
    </label>
    <div class="fresh" role="status">{fresh > 0 && <button type="button" onClick={() => { set(waiting); wait(null) }}>{fresh} new: show</button>}</div>
    {all && rows.length === 0 && <p class="quiet">{find ? 'No conversation has these words.' : 'Nothing was sent yet.'}</p>}
    <ul>
      {rows.map(({ c, depth }) => <li key={c.id} class={`depth${Math.min(depth, 4)}`}>
        <a href={href({ id: c.id })} aria-current={route.id === c.id ? 'page' : undefined}>
          <span class="title">{c.name || c.title || c.id}</span>
          <span class="facts">
            {c.parent ? 'branch · ' : ''}{c.last ? `${num(c.last.tokens)} of ${num(c.last.available)} · ${percent(c.last.tokens, c.last.available)}` : c.messages > 0 ? `${num(c.messages)} messages` : c.folder ?? ''}
          </span>
          <span class="facts">{[when(c.used), c.model, c.last?.gateway].filter(Boolean).join(' · ')}</span>
        </a>
      </li>)}
    </ul>
  </nav>
}
