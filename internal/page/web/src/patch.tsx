import { Fragment, h, useEffect, useMemo, useRef, useState } from './preact'
import { Done, Hunk, live, Patch, patchOf, PlanInfo, post, Report, reportOf } from './api'
import { bytes, num, percent, place, plural, signed, when } from './format'
import { href, Route } from './route'
import { Shown } from './main'
import { Original } from './original'
import { PinButton, Stretch } from './messages'

// what says in words what a plan is.
const what = (p: PlanInfo) => p.by === 'undo' ? 'undo' : p.by === 'compact' ? 'compaction, asked for' : p.saved > 0 ? 'compaction' : 'repair'

// Plans lists what came into force, newest first.
export function Plans({ shown }: { shown: Shown }) {
  const d = shown.detail
  const rows = useMemo(() => [...d.plans].reverse(), [d.plans])
  return <section aria-labelledby="plans-title">
    <h2 id="plans-title">Compactions</h2>
    {rows.length === 0
      ? <p class="quiet">No compaction yet.</p>
      : <div class="scroll" tabIndex={0} role="region" aria-labelledby="plans-title"><table class="rows">
          <thead><tr><th scope="col">Before request</th><th scope="col">What</th><th scope="col" class="num">Tokens</th><th scope="col" class="num">Change</th><th scope="col">Why</th></tr></thead>
          <tbody>{rows.map((p, i) => <tr key={`${p.id}.${i}`} class={p.undone ? 'undone' : undefined}>
            <th scope="row" class="num" data-label="before request">{num(p.request)}</th>
            <td>{p.id ? <a href={href({ id: d.id, tab: 'plan', arg: p.id })}>{what(p)}</a> : what(p)}{p.in_force ? ', in force' : ''}{p.undone ? ', taken back' : ''}</td>
            <td class="num" data-label="tokens">{num(p.tokens_before)} → {num(p.tokens_after)}</td>
            <td class="num">{signed(p.tokens_after - p.tokens_before)} <span class="facts">{percent(p.tokens_after - p.tokens_before, p.tokens_before)}</span></td>
            <td class="why">{p.why}{p.focus ? ` (focus: ${p.focus})` : ''}</td>
          </tr>)}</tbody>
        </table></div>}
  </section>
}

// PlanView is one plan as a patch.
export function PlanView({ shown, route }: { shown: Shown; route: Route }) {
  const d = shown.detail
  const at = d.plans.findIndex((p) => p.id === route.arg)
  const info: PlanInfo | undefined = d.plans[at]
  const [patch, set] = useState<Patch | null>(null)
  const [report, tell] = useState<Report | null>(null)
  const [why, lose] = useState('')
  useEffect(() => {
    let over = false
    patchOf(route.arg).then((p) => over || set(p), (err) => over || lose(err instanceof Error ? err.message : String(err)))
    reportOf(route.arg).then((r) => over || tell(r), () => {})
    return () => { over = true }
  }, [route.arg, d.revision])
  // The timeline stands above: whoever opens a drop is brought to what it did.
  const top = useRef<HTMLElement>(null)
  useEffect(() => {
    top.current?.scrollIntoView({ block: 'start' })
    document.getElementById('plan-title')?.focus({ preventScroll: true })
  }, [route.arg])
  const to = (i: number) => href({ id: d.id, tab: 'plan', arg: d.plans[i]?.id })
  return <section class="plan" aria-labelledby="plan-title" ref={top}>
    <nav class="pager" aria-label="Compactions">
      <a href={href({ id: d.id, tab: 'plans' })}>All compactions</a> {at > 0 && <a href={to(at - 1)} rel="prev">Previous</a>} {at >= 0 && at + 1 < d.plans.length && <a href={to(at + 1)} rel="next">Next</a>}
    </nav>
    <h2 id="plan-title" tabIndex={-1}>{info ? `${capital(what(info))} before request ${num(info.request)}` : `Plan ${route.arg}`}</h2>
    {info && <p>
      <b class="tokens">{num(info.tokens_before)} → {num(info.tokens_after)}</b> tokens, {signed(info.tokens_after - info.tokens_before)} ({percent(info.tokens_after - info.tokens_before, info.tokens_before)}).
      {info.why && ` ${capital(info.why)}.`}{info.focus && ` Focus: ${info.focus}.`} <span class="facts">{when(info.time)}</span>
    </p>}
    {info && <Acts shown={shown} info={info} />}
    {report && <Tallies r={report} />}
    {why && <p class="warn">{capital(why)}</p>}
    {patch ? <Hunks patch={patch} shown={shown} /> : !why && <p class="quiet">Reading…</p>}
  </section>
}

const capital = (s: string) => s.charAt(0).toUpperCase() + s.slice(1)

function Acts({ shown, info }: { shown: Shown; info: PlanInfo }) {
  const d = shown.detail
  const [busy, set] = useState(false)
  if (!live || !d.readable) return null
  const undo = async () => {
    set(true)
    try {
      const done = await post<Done>(`conversations/${encodeURIComponent(d.id)}/undo`, { plan: d.plan, undo: info.id })
      await shown.reload(done.say)
    } catch (err) { shown.complain(err) }
    set(false)
  }
  return <div class="acts">
    {info.undone
      ? <p class="facts">This compaction was taken back.</p>
      : <button type="button" disabled={busy} onClick={undo}>{info.by === 'undo' ? 'Undo this undo' : 'Undo this compaction'}</button>}
  </div>
}

// Tallies are the report: what was kept, reduced and removed, and by which stage.
function Tallies({ r }: { r: Report }) {
  const rows: [string, Report['kept']][] = [['kept as it was', r.kept], ['reduced', r.reduced], ['removed', r.removed]]
  return <div class="tallies">
    <table class="rows">
      <caption>All that this plan does to {plural(r.messages_before, 'message')}, with the plans before it; the model sees {num(r.messages_after)}</caption>
      <thead><tr><th scope="col"><span class="hidden">Fate</span></th><th scope="col" class="num">Messages</th><th scope="col" class="num">Tokens before</th><th scope="col" class="num">after</th></tr></thead>
      <tbody>{rows.map(([name, t]) => <tr key={name}><th scope="row">{name}</th><td class="num" data-label="messages">{num(t.messages)}</td><td class="num" data-label="tokens before">{num(t.tokens_before)}</td><td class="num" data-label="after">{num(t.tokens_after)}</td></tr>)}</tbody>
    </table>
    {r.stages.length > 0 && <table class="rows">
      <caption>By stage</caption>
      <thead><tr><th scope="col">Stage</th><th scope="col" class="num">Edits</th><th scope="col" class="num">Tokens saved</th></tr></thead>
      <tbody>{r.stages.map((s) => <tr key={s.name}><th scope="row">{s.name}</th><td class="num" data-label="edits">{num(s.edits)}</td><td class="num" data-label="tokens saved">{num(s.saved)}</td></tr>)}</tbody>
    </table>}
    {r.evidence && Object.keys(r.evidence).length > 0 && <table class="rows">
      <caption>Evidence that can still be read</caption>
      <thead><tr><th scope="col">Class</th><th scope="col" class="num">Kept</th><th scope="col" class="num">of</th></tr></thead>
      <tbody>{Object.entries(r.evidence).map(([name, s]) => <tr key={name}><th scope="row">{name.replace(/_/g, ' ')}</th><td class="num" data-label="kept">{num(s.kept)} <span class="facts">{percent(s.kept, s.total)}</span></td><td class="num" data-label="of">{num(s.total)}</td></tr>)}</tbody>
    </table>}
  </div>
}

const pageOf = 60

function Hunks({ patch, shown }: { patch: Patch; shown: Shown }) {
  const [all, toggle] = useState(false)
  const [most, more] = useState(pageOf)
  const earlier = patch.hunks.filter((x) => x.op !== 'keep' && !x.added).length
  const added = patch.hunks.length - earlier - patch.hunks.filter((x) => x.op === 'keep').length
  const rows = useMemo(() => all ? patch.hunks : merge(patch.hunks), [patch, all])
  return <Fragment>
    <p class="facts">
      {plural(added, 'edit')} of this plan{earlier > 0 && <Fragment>; <label><input type="checkbox" checked={all} onChange={() => toggle(!all)} /> show {num(earlier)} of the plans before it too</label></Fragment>}
    </p>
    <div class="hunks">
      {rows.slice(0, most).map((x, i) => <One key={`${x.op}.${x.from}.${x.part}.${i}`} x={x} shown={shown} />)}
    </div>
    {rows.length > most && <button type="button" onClick={() => more(most + pageOf)}>Show {num(Math.min(pageOf, rows.length - most))} more of {num(rows.length)}</button>}
  </Fragment>
}

// merge takes edits of earlier plans together with what was kept around them:
// for this plan they are what stood there.
function merge(hunks: Hunk[]): Hunk[] {
  const out: Hunk[] = []
  for (const x of hunks) {
    const last = out[out.length - 1]
    if (x.op !== 'keep' && x.added) { out.push(x); continue }
    const run = { ...x, op: 'keep', part: -1, from: x.from, to: x.part >= 0 ? x.from + 1 : x.to, tokens_before: x.tokens_after, added: false }
    if (last?.op === 'keep') {
      last.to = Math.max(last.to, run.to)
      last.tokens_before += run.tokens_before
      last.tokens_after += run.tokens_after
    } else out.push(run)
  }
  return out
}

function One({ x, shown }: { x: Hunk; shown: Shown }) {
  const [open, show] = useState('')
  if (x.op === 'keep') {
    const n = x.to - x.from
    return <div class="hunk keep">
      <button type="button" class="line" aria-expanded={open === 'kept'} onClick={() => show(open ? '' : 'kept')}>{plural(n, 'message')} as before, {place(x.from, x.to, -1)}, {num(x.tokens_after)} tokens</button>
      {open === 'kept' && <Stretch shown={shown} from={x.from} to={Math.min(x.to, x.from + 100)} />}
    </div>
  }
  const run = x.part < 0 && x.to > x.from
  return <article class={`hunk ${x.op}`} aria-label={`${x.op} ${place(x.from, x.to, x.part)}`}>
    <header>
      <span class="op">{x.op}</span> {place(x.from, x.to, x.part)} <span class="stage">{x.stage}</span>
      <span class="tokens">{num(x.tokens_before)} → {num(x.tokens_after)} tokens</span>
      {x.handle && <code class="handle">{x.handle}</code>}
      {x.part >= 0 && <PinButton shown={shown} message={x.from} part={x.part} />}
    </header>
    <p class="about">{[[x.role, x.kind?.replace('tool_', '')].filter(Boolean).join(' '), x.about, x.why].filter(Boolean).join(' · ')}{x.keep && x.keep.length > 0 && ` · keeps ${plural(x.keep.length, 'message')}`}</p>
    {x.turns ? <Turns x={x} shown={shown} /> : x.old && <Text side="minus" text={x.old} total={x.old_bytes} clip={6} />}
    <div class="acts">
      {x.handle && <button type="button" aria-expanded={open === 'original'} onClick={() => show(open === 'original' ? '' : 'original')}>{open === 'original' ? 'Hide the original' : 'Show the original'}</button>}
      {run && <button type="button" aria-expanded={open === 'messages'} onClick={() => show(open === 'messages' ? '' : 'messages')}>{open === 'messages' ? 'Hide its messages' : 'Its messages, to pin'}</button>}
    </div>
    {open === 'original' && <Original handle={x.handle!} complain={shown.complain} />}
    {open === 'messages' && <Stretch shown={shown} from={x.from} to={Math.min(x.to, x.from + 100)} />}
    {x.new && <Text side="plus" text={x.new} total={x.new_bytes} clip={14} />}
  </article>
}

// Turns tell what an edit hides: what was asked, what was done, and what is left of it.
function Turns({ x, shown }: { x: Hunk; shown: Shown }) {
  const [most, more] = useState(12)
  return <Fragment>
    <table class="rows turns">
      <thead><tr><th scope="col">Asked</th><th scope="col">Done</th><th scope="col">Left in the view</th></tr></thead>
      <tbody>{x.turns!.slice(0, most).map((t) => <tr key={t.from}>
        <th scope="row" data-label="asked"><a href={href({ id: shown.detail.id, tab: 'messages', arg: String(t.from) })}>{num(t.from)}</a> {t.asked || <span class="facts">went on from before</span>}</th>
        <td data-label="done">{t.did}{t.said && <q>{t.said}</q>}</td>
        <td data-label="left">{t.left || 'nothing'}</td>
      </tr>)}</tbody>
    </table>
    {x.turns!.length > most && <button type="button" onClick={() => more(most + 50)}>Show more of {plural(x.turns!.length, 'turn')}</button>}
  </Fragment>
}

// Text is a text that a button opens where it is long.
export function Text({ side, text, total, clip }: { side?: 'plus' | 'minus'; text: string; total?: number; clip: number }) {
  const [whole, show] = useState(false)
  const lines = useMemo(() => text.replace(/\n$/, '').split('\n'), [text])
  const rows = whole ? lines : lines.slice(0, clip)
  const cut = total !== undefined && total > new TextEncoder().encode(text).length
  const sign = side === 'plus' ? '+ ' : side === 'minus' ? '− ' : ''
  return <div class={side ? `side ${side}` : undefined}>
    <pre>{rows.map((l) => sign + l).join('\n')}</pre>
    {lines.length > clip && <button type="button" aria-expanded={whole} onClick={() => show(!whole)}>{whole ? 'Fewer lines' : `${num(lines.length - clip)} more lines`}{cut ? ` of ${bytes(total!)}` : ''}</button>}
  </div>
}
