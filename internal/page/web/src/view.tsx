import { Fragment, h, useEffect, useMemo, useState } from './preact'
import { Done, get, live, post, Run, View } from './api'
import { dollars, num, percent, plural, signed } from './format'
import { href, Route } from './route'
import { Shown } from './main'
import { Text } from './patch'

export const bands: [string, string][] = [
  ['fixed', 'fixed part'], ['files', 'files as they stand'], ['words', 'words'], ['actions', 'actions'], ['tail', 'newest, as it was said'],
]

const step = 40

const sizes = (v: View) => bands.map(([key, name]) => ({ key, name, tokens: v.runs.reduce((n, r) => n + (r.band === key ? r.tokens : 0), 0) }))

// Seen is what the model sees now, as one text with its bands, and how to hide more
// or less of it.
export function Seen({ shown, route }: { shown: Shown; route: Route }) {
  const d = shown.detail
  const [view, set] = useState<View | null>(null)
  useEffect(() => {
    let over = false
    get<View>(`conversations/${encodeURIComponent(d.id)}/view`).then((v) => over || set(v), (err) => over || shown.complain(err))
    return () => { over = true }
  }, [d.id, d.revision])
  const [most, more] = useState(step)
  useEffect(() => more(step), [route.show])
  const runs = useMemo(() => (view?.runs ?? []).filter((r) => !route.show || r.band === route.show), [view, route.show])
  if (!d.readable) return null
  if (!view) return <p class="quiet">Reading…</p>
  return <section class="seen-now" aria-labelledby="view-title">
    <h2 id="view-title">What the model sees now: {num(view.tokens)} tokens</h2>
    <Bar view={view} />
    <ul class="bands">
      {sizes(view).filter((b) => b.tokens > 0).map((b) => <li key={b.key}>
        <a href={href({ id: d.id, show: route.show === b.key ? '' : b.key })} aria-current={route.show === b.key ? 'true' : undefined}>
          <span class={`swatch ${b.key}`} aria-hidden="true" /> {b.name} <b>{num(b.tokens)}</b> <span class="facts">{percent(b.tokens, view.tokens)}</span>
        </a>
      </li>)}
    </ul>
    {live && <Workbench shown={shown} view={view} />}
    <div class="runs">
      {runs.slice(0, most).map((r, i) => <One key={`${route.show}.${i}`} r={r} id={d.id} />)}
    </div>
    {runs.length > most && <button type="button" onClick={() => more(most + step)}>Show {num(Math.min(step, runs.length - most))} more of {num(runs.length)}</button>}
  </section>
}

// Bar is a prompt by its bands, on a scale that a second one may share.
function Bar({ view, of }: { view: View; of?: number }) {
  return <div class="bar" aria-hidden="true">
    {sizes(view).map((b) => <span key={b.key} class={b.key} style={{ width: `${(100 * b.tokens) / (of ?? view.tokens)}%` }} />)}
  </div>
}

function One({ r, id }: { r: Run; id: string }) {
  return <article class={`run ${r.band}`}>
    <p class="facts">
      {r.message >= 0 ? <a href={href({ id, tab: 'messages', arg: String(r.message) })}>{num(r.message)}</a> : null} {r.about || (r.band === 'actions' ? 'what was done' : '')} <span class="tokens">{plural(r.tokens, 'token')}</span>
    </p>
    {r.text && <Text text={r.text} total={r.bytes} clip={8} />}
  </article>
}

// Workbench asks for more or less to be hidden: it shows what that does before it is
// done.
function Workbench({ shown, view }: { shown: Shown; view: View }) {
  const d = shown.detail
  const most = Math.min(view.whole, view.compact_at || view.available)
  const least = Math.min(most, view.fixed + Math.max(1000, Math.round((most - view.fixed) / 20)))
  const [target, aim] = useState<number | null>(null) // null: nothing is asked; 0: what the settings say
  const [focus, type] = useState('')
  const [then, set] = useState<View | null>(null)
  const [why, say] = useState('')
  const [busy, work] = useState(false)
  const ask = { plan: d.plan, focus: focus.trim(), target: target || undefined }
  const at = `conversations/${encodeURIComponent(d.id)}`
  useEffect(() => { aim(null); set(null); say('') }, [view])
  useEffect(() => {
    if (target === null) return
    const stop = new AbortController()
    const later = setTimeout(() => {
      post<View>(at + '/preview', ask, stop.signal).then((v) => { set(v); say('') }, (err) => {
        if (stop.signal.aborted) return
        set(null)
        say(err instanceof Error ? err.message : String(err))
      })
    }, 120)
    return () => { clearTimeout(later); stop.abort() }
  }, [target, focus, d.plan])
  const apply = async () => {
    work(true)
    try {
      const done = await post<Done>(at + '/compact', ask)
      type('') // and ask for nothing more: what a preview would be based on is gone
      aim(null)
      set(null)
      await shown.reload(done.say)
    } catch (err) { shown.complain(err) }
    work(false)
  }
  const size = then?.tokens ?? view.tokens
  return <form class="bench" onSubmit={(e) => { e.preventDefault(); if (target === null) aim(0); else if (then && !busy) apply() }}>
    {most > least && <div class="slide">
      <span>hide less</span>
      <input id="hide" type="range" min={0} max={most - least} step={Math.max(1, Math.round((most - least) / 100))} value={most - (target || size)} aria-label="Hide less or more"
        aria-valuetext={`${num(target || size)} tokens`} onInput={(e) => aim(most - Number((e.target as HTMLInputElement).value))} />
      <span>hide more</span>
    </div>}
    <div class="ask">
      <input id="focus" type="text" value={focus} placeholder="focus: what the summary should pay attention to" aria-label="Focus of the summary" onInput={(e) => type((e.target as HTMLInputElement).value)} autocomplete="off" />
      {target === null
        ? <button type="submit">Compact now</button>
        : <Fragment>
            <button type="submit" class="apply" disabled={busy || !then}>{busy ? 'Compacting…' : 'Apply'}</button>
            <button type="button" disabled={busy} onClick={() => { aim(null); set(null); say('') }}>Cancel</button>
          </Fragment>}
    </div>
    <div role="status" aria-live="polite">
      {why && <p class="facts">{why}</p>}
      {target !== null && then && <Change now={view} then={then} focus={ask.focus} />}
    </div>
  </form>
}

// Change says what another view would have that this one has not.
function Change({ now, then, focus }: { now: View; then: View; focus: string }) {
  const was = sizes(now), will = sizes(then)
  const moved = useMemo(() => Object.entries(now.files).map(([path, from]) => ({ path, from, to: then.files[path] ?? 0 }))
    .filter((f) => f.from !== f.to).sort((x, y) => Math.abs(y.to - y.from) - Math.abs(x.to - x.from)), [now, then])
  const told = (list: typeof moved) => list.slice(0, 6).map((f) => `${f.path.split('/').slice(-2).join('/')} ${num(f.from)} → ${num(f.to)} lines`).join(', ') + (list.length > 6 ? `, ${plural(list.length - 6, 'more file')}` : '')
  const back = moved.filter((f) => f.to > f.from), gone = moved.filter((f) => f.to < f.from)
  return <div class="change">
    <p><b class="tokens">{num(now.tokens)} → {num(then.tokens)}</b> tokens. {then.next !== null && <Fragment>The next prompt {dollars(then.next)}, each one after it {dollars(then.later)}; now {dollars(now.later)}. <span class="facts">estimated, with a warm cache</span></Fragment>}{focus && ' The summary is written when you apply.'}</p>
    <Bar view={now} of={Math.max(now.tokens, then.tokens)} /><Bar view={then} of={Math.max(now.tokens, then.tokens)} />
    <p class="facts">{will.map((b, i) => ({ ...b, by: b.tokens - was[i].tokens })).filter((b) => b.by !== 0).map((b) => `${b.name} ${signed(b.by)}`).join(', ')}</p>
    {back.length > 0 && <p class="facts"><b>Comes back:</b> {told(back)}</p>}
    {gone.length > 0 && <p class="facts"><b>Goes:</b> {told(gone)}</p>}
  </div>
}
