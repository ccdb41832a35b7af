import { Fragment, h, useMemo, useState } from './preact'
import { Beside, cuts, Detail, Kinds, Request } from './api'
import { dollars, kinds, num, percent, plural, signed, unknown } from './format'
import { Route } from './route'
import { Shown } from './main'
import { Costs, pays, Timeline } from './timeline'
import { PinHints } from './hints'
import { Notes } from './notes'

// Overview is what a reader wants to know first: what to do, and how full it is.
export function Overview({ shown }: { shown: Shown }) {
  const d = shown.detail
  const last = d.requests[d.requests.length - 1]
  return <section class="overview" aria-labelledby="title">
    <h1 id="title">{d.name || d.title || d.id}</h1>
    {d.name && d.title && <p class="sub">{d.title}</p>}
    <p class={`next ${d.next.do}`}><strong>What should I do now?</strong> {d.next.say}</p>
    <PinHints shown={shown} />
    <Notes shown={shown} />
    {last ? <Facts d={d} last={last} beside={shown.beside} /> : <p class="quiet">No request was recorded yet.</p>}
  </section>
}

// History is how it came to that, request by request.
export function History({ shown, route }: { shown: Shown; route: Route }) {
  const { detail: d, beside } = shown
  const [at, point] = useState<number | null>(null)
  const last = d.requests[d.requests.length - 1]
  if (!last) return null
  return <Fragment>
    <Timeline d={d} beside={beside} chosen={route.tab === 'plan' ? route.arg : ''} point={point} />
    <Legend r={at === null ? last : d.requests[at] ?? last} pointed={at !== null} beside={beside} index={at ?? d.requests.length - 1} />
    <Costs d={d} beside={beside} />
  </Fragment>
}

function sum(list: (number | null)[]): { total: number; n: number } {
  let total = 0, n = 0
  for (const x of list) if (x !== null) { total += x; n++ }
  return { total, n }
}

// Facts are the numbers that hold for the whole, each with its whole and where it
// comes from.
function Facts({ d, last, beside }: { d: Detail; last: Request; beside: Beside | null }) {
  const t = d.totals
  const money = useMemo(() => {
    if (!beside) return null
    const ours = sum(beside.winnow.dollars), theirs = sum(beside.agent.dollars)
    return { ours, theirs, same: ours.n === theirs.n }
  }, [beside])
  return <dl class="facts-row">
    <Fact name="Next prompt" value={num(d.next.tokens)} unit="tokens"
      note={`${percent(d.next.tokens, last.available)} of ${num(last.available)} available, before anything is added; ${d.next.tokens === last.tokens ? '' : `the last one had ${num(last.tokens)}; `}${d.pinned.length ? `${num(d.pinned.length)} pinned; ` : ''}window ${num(last.window)}`} how={last.method} />
    <Fact name="Compacts at" value={last.compact_at ? num(last.compact_at) : unknown} unit={last.compact_at ? 'tokens' : ''}
      note={last.compact_why ?? ''} how={pays(last) ? `a rewrite pays from ${num(last.commit_at!)} on` : ''} />
    <Fact name="Kept out" value={num(last.saved)} unit="tokens"
      note={`the last prompt without its plan: ${num(last.tokens + last.saved)}; ${plural(cuts(d).length, 'compaction')}`} how="estimated" />
    {beside
      ? <Fact name="Dollars" value={money && money.ours.n ? dollars(money.ours.total) : unknown} unit=""
          note={money ? `under winnow, ${plural(money.ours.n, 'request')}${money.theirs.n ? `; the agent paid ${dollars(money.theirs.total)} for ${num(money.theirs.n)}` : '; what the agent paid is unknown'}` : ''} how={money?.theirs.n ? 'estimated, beside reported' : 'estimated'} />
      : <Fact name="Dollars" value={dollars(t.dollars)} unit="" note={`for ${num(t.priced)} of ${plural(t.requests, 'request')}`} how={t.dollars === null ? '' : 'reported tokens, listed prices'} />}
    {beside
      ? <Fact name="From the cache" value={share(beside)} unit="" note={`of the prompts of ${plural(beside.winnow.prompt.length, 'request')} under winnow`} how="estimated" />
      : <Fact name="From the cache" value={t.cache_share === null ? unknown : percent(t.cache_share, 1)} unit="" note={`of the prompts of ${num(t.reported)} of ${plural(t.requests, 'request')}`} how={t.cache_share === null ? '' : 'reported'} />}
  </dl>
}

function share(b: Beside): string {
  return percent(sum(b.winnow.read).total, sum(b.winnow.prompt).total)
}

export function Fact({ name, value, unit, note, how }: { name: string; value: string; unit: string; note: string; how: string }) {
  return <div>
    <dt>{name}</dt>
    <dd><span class="value">{value}</span>{unit && <span class="unit"> {unit}</span>}</dd>
    <dd class="facts">{note}{note && how ? ' · ' : ''}{how}</dd>
  </div>
}

// Legend says what the tokens of one request are spent on.
function Legend({ r, pointed, beside, index }: { r: Request; pointed: boolean; beside: Beside | null; index: number }) {
  const agent = beside?.agent.prompt[index] ?? null
  const reported = beside ? agent : r.usage ? r.usage.input + r.usage.cache_read + r.usage.cache_write : null
  return <div class="legend" aria-live="off">
    <p class="facts">
      {pointed ? 'Request' : 'Last request:'} {num(r.n)}, {plural(r.messages, 'message')}, {num(r.tokens)} tokens {r.method}
      {reported !== null && <Fragment>; {beside ? 'the agent’s provider' : 'the provider'} reported {num(reported)}{beside ? '' : ` (${signed(reported - r.tokens)})`}</Fragment>}
      {r.gateway && <Fragment>; served by {r.gateway}</Fragment>}
      {r.passed && <Fragment>; sent as it came: {r.passed}</Fragment>}
    </p>
    <ul>
      {kinds.filter(({ key }) => r.kinds[key as keyof Kinds] > 0).map(({ key, name }) => <li key={key}>
        <span class={`swatch ${key}`} aria-hidden="true" /> {name} <b>{num(r.kinds[key])}</b> <span class="facts">{percent(r.kinds[key], r.tokens)}</span>
      </li>)}
    </ul>
  </div>
}
