import { Fragment, h, render, useCallback, useEffect, useRef, useState } from './preact'
import { about, Beside, conversation, cuts, Detail, follow, get, Hint, live, Refused } from './api'
import { num, plural } from './format'
import { href, Route, useRoute } from './route'
import { Insights, Report } from './insights'
import { List } from './list'
import { Start } from './start'
import { History, Overview } from './overview'
import { Seen } from './view'
import { Plans, PlanView } from './patch'
import { Files } from './files'
import { Search } from './search'
import { MessageList } from './messages'

// Shown is a conversation with how to act on it and read it anew.
export interface Shown {
  detail: Detail
  beside: Beside | null
  hints: Hint[]
  reload: (say?: string) => Promise<void>
  complain: (err: unknown) => void
}

// alone says that there is one conversation: then nobody needs a list of them.
const alone = !live || !!about.progress

const tabs: [string, string][] = [['', 'View'], ['plans', 'Compactions'], ['messages', 'Messages'], ['files', 'Files'], ['search', 'Search']]

function App() {
  const route = useRoute()
  const [said, say] = useState('')
  const complain = useCallback((err: unknown) => {
    const status = err instanceof Refused ? err.status : 0
    const text = err instanceof Error ? err.message : String(err)
    say(status === 409 ? `Not done: ${text}` : text)
  }, [])
  useEffect(() => say(''), [route.id])
  const report = about.frozen?.insights as Report | undefined
  if (report) return <Fragment><header class="top"><span class="brand">winnow</span><span class="note">{about.note}</span></header><Insights doc={report} /></Fragment>
  return <Fragment>
    <a class="skip" href="#main" onClick={(e) => { e.preventDefault(); document.getElementById('main')?.focus() }}>Skip to the conversation</a>
    <header class="top">
      <a class="brand" href={href({})}>winnow</a>
      {about.note && <span class="note">{about.note}</span>}
    </header>
    <div class={`columns${alone ? ' alone' : ''}${route.id ? ' chosen' : ''}`}>
      <List route={route} complain={complain} />
      <main id="main" tabIndex={-1}>
        <p class="said" role="status" aria-live="polite">{said}</p>
        {route.id
          ? <One key={route.id} route={route} say={say} complain={complain} />
          : <Start complain={complain} />}
      </main>
    </div>
  </Fragment>
}

function One({ route, say, complain }: { route: Route; say: (s: string) => void; complain: (err: unknown) => void }) {
  const [read, set] = useState<{ detail: Detail; beside: Beside | null; hints: Hint[] } | null>(null)
  const detail = read?.detail ?? null
  const [lost, lose] = useState('')
  const [fresh, count] = useState({ requests: 0, other: false })
  const revision = useRef(0)
  const reload = useCallback(async (done?: string) => {
    try {
      // All of it is shown at once, so that nothing moves under the reader.
      const d = await conversation(route.id)
      const at = `conversations/${encodeURIComponent(d.id)}`
      const [beside, hints] = await Promise.all([
        d.source === 'rerun' ? get<Beside>(at + '/beside') : null,
        d.readable ? get<{ hints: Hint[] }>(at + '/hints').then((r) => r.hints) : [],
      ])
      revision.current = d.revision
      count({ requests: 0, other: false })
      set({ detail: d, beside, hints })
      if (done) say(done)
    } catch (err) {
      if (err instanceof Refused && (err.status === 404 || err.status === 401)) lose(err.message)
      else complain(err)
    }
  }, [route.id])
  useEffect(() => { reload() }, [route.id])

  // What happens meanwhile is counted and not shown before the reader asks.
  const known = detail?.id
  useEffect(() => {
    if (!known || !live) return
    return follow(known, revision.current, (kind, data) => {
      if (kind !== 'missed' && data.revision <= revision.current) return
      if (kind === 'request') count((c) => ({ ...c, requests: c.requests + 1 }))
      else count((c) => ({ ...c, other: true }))
    })
  }, [known])
  useEffect(() => {
    if (detail) performance.mark('winnow-shown')
    document.title = detail ? `${detail.name || detail.title || detail.id} · winnow` : 'winnow'
  }, [detail])

  if (lost) return <p class="quiet">There is nothing to show: {lost}.</p>
  if (!read || !detail) return <Reading />
  const shown: Shown = { ...read, reload, complain }
  const tab = route.tab === 'plan' ? 'plans' : route.tab
  return <Fragment>
    <Fresh requests={fresh.requests} other={fresh.other} show={() => reload()} />
    <Overview shown={shown} />
    <nav class="tabs" aria-label="About this conversation">
      {tabs.map(([key, name]) => <a key={key} href={href({ id: route.id, tab: key })} aria-current={tab === key ? 'page' : undefined}>{name}{amount(key, detail)}</a>)}
    </nav>
    {!detail.readable && <p class="warn">{detail.why || 'The messages of this conversation are not at hand.'}</p>}
    {route.tab === '' && <Seen shown={shown} route={route} />}
    {tab === 'plans' && <History shown={shown} route={route} />}
    {route.tab === 'plans' && <Plans shown={shown} />}
    {route.tab === 'plan' && <PlanView key={route.arg} shown={shown} route={route} />}
    {route.tab === 'messages' && <MessageList shown={shown} route={route} />}
    {route.tab === 'files' && <Files shown={shown} route={route} />}
    {route.tab === 'search' && <Search shown={shown} route={route} />}
  </Fragment>
}

// Reading says how far a conversation is that has to be made first.
function Reading() {
  const [at, set] = useState<{ done: number; total: number } | null>(null)
  useEffect(() => {
    if (!about.progress) return
    const ask = () => { get<{ done: number; total: number }>('progress').then(set, () => {}) }
    ask()
    const again = setInterval(ask, 500)
    return () => clearInterval(again)
  }, [])
  if (!at || at.done >= at.total) return <p class="quiet">Reading…</p>
  return <p class="quiet going"><label for="going">Going through the session: {num(at.done)} of {plural(at.total, 'request')}</label> <progress id="going" max={at.total} value={at.done} /></p>
}

function amount(tab: string, d: Detail): string {
  if (tab === 'plans') return ` ${cuts(d).length}`
  return tab === 'messages' ? ` ${d.messages.toLocaleString('en-US')}` : ''
}

// Fresh says what came in since the page was read.
function Fresh({ requests, other, show }: { requests: number; other: boolean; show: () => void }) {
  const text = requests > 0 ? `${plural(requests, 'new request')}` : other ? 'something was done elsewhere' : ''
  return <div class="fresh" role="status" aria-live="polite">
    {text && <button type="button" onClick={show}>{text}: show</button>}
  </div>
}

addEventListener('keydown', (e) => {
  const typing = e.target instanceof HTMLInputElement || e.target instanceof HTMLTextAreaElement
  if (e.key === '/' && !typing && !e.ctrlKey && !e.metaKey && !e.altKey) {
    e.preventDefault()
    document.getElementById('find')?.focus()
  }
  if (e.key === 'Escape' && typing) (e.target as HTMLElement).blur()
})


render(<App />, document.getElementById('app')!)
