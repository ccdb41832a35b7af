import { h, useEffect, useMemo, useRef, useState } from './preact'
import uPlot from 'uplot'
import { Beside, cuts, Detail, PlanInfo, Request } from './api'
import { dollars, kinds, num, percent, plural, short, signed } from './format'
import { href } from './route'

const height = 260
const low = 110

// Colours come from the style sheet, so that light and dark have their own.
function colours(): (name: string) => string {
  const style = getComputedStyle(document.documentElement)
  return (name) => style.getPropertyValue(`--${name}`).trim()
}

// useScheme returns a number that changes with the colours.
function useScheme(): number {
  const [n, set] = useState(0)
  useEffect(() => {
    const dark = matchMedia('(prefers-color-scheme: dark)')
    const changed = () => set((k) => k + 1)
    dark.addEventListener('change', changed)
    return () => dark.removeEventListener('change', changed)
  }, [])
  return n
}

// usePlot draws into a div and keeps its width.
function usePlot(tall: number, make: (width: number) => [uPlot.Options, uPlot.AlignedData] | null, on: unknown[], drawn?: (u: uPlot) => void) {
  const box = useRef<HTMLDivElement>(null)
  useEffect(() => {
    const div = box.current
    if (!div) return
    const made = make(div.clientWidth)
    if (!made) return
    if (drawn) made[0].hooks = { ...made[0].hooks, draw: [drawn] }
    const u = new uPlot(made[0], made[1], div)
    const watch = new ResizeObserver(() => {
      const width = div.clientWidth
      if (width > 0 && width !== u.width) u.setSize({ width, height: tall })
    })
    watch.observe(div)
    return () => { watch.disconnect(); u.destroy() }
  }, on)
  return box
}

// pays reports whether a rewrite pays at another size than the one it is due at.
export const pays = (r: Request) => !!r.commit_at && r.commit_at < r.available && Math.abs(r.commit_at - r.compact_at) > 1

const axisFont = '11px system-ui, sans-serif'

function axes(c: (n: string) => string, format: (n: number) => string): uPlot.Axis[] {
  const line = { stroke: c('axis'), font: axisFont, grid: { stroke: c('grid'), width: 1 }, ticks: { stroke: c('grid'), width: 1, size: 4 } }
  return [
    { ...line, grid: { show: false }, size: 26, values: (_, v) => v.map((n) => (Number.isInteger(n) ? num(n) : '')) },
    { ...line, size: 52, values: (_, v) => v.map((n) => (n === null ? '' : format(n))) },
  ]
}

// numbers are the requests on the x axis; one more closes the last step.
function numbers(d: Detail): number[] {
  const first = d.requests[0].n
  return [...d.requests.map((r) => r.n), first + d.requests.length]
}

const closed = <T,>(list: T[]): T[] => [...list, list[list.length - 1]]

const names = (p: PlanInfo) => (p.by === 'undo' ? 'Undo' : p.by === 'request' && p.saved <= 0 ? 'Repair' : 'Compaction')

// Timeline is the size of each request by kind, under its limits; a compaction is
// a drop that can be opened.
export function Timeline({ d, beside, chosen, point }: { d: Detail; beside: Beside | null; chosen: string; point: (i: number | null) => void }) {
  const scheme = useScheme()
  const [marks, place] = useState<{ p: PlanInfo; left: number; n: number }[]>([])
  const [own, placeOwn] = useState<{ n: number; left: number }[]>([])
  const steps = uPlot.paths.stepped!({ align: 1 })
  const box = usePlot(height, (width) => {
    const c = colours()
    const xs = numbers(d)
    const data: (number | null)[][] = [xs]
    const series: uPlot.Series[] = [{}]
    const sums = d.requests.map(() => 0)
    const layers: { key: string; values: number[] }[] = []
    for (const { key } of kinds) {
      if (!d.requests.some((r) => r.kinds[key] > 0)) continue
      d.requests.forEach((r, i) => { sums[i] += r.kinds[key] })
      layers.push({ key, values: [...sums] })
    }
    for (const l of layers.reverse()) { // the whole first, so that each covers what stands below it
      data.push(closed(l.values))
      series.push({ fill: c(`kind-${l.key}`), stroke: c(`kind-${l.key}`), width: 0, paths: steps, points: { show: false } })
    }
    const line = (values: (number | null)[], name: string, dash: number[], width = 1.25) => {
      data.push(closed(values))
      series.push({ stroke: c(name), width, dash, paths: steps, points: { show: false }, spanGaps: false })
    }
    line(d.requests.map((r) => r.available || null), 'line-available', [])
    line(d.requests.map((r) => r.compact_at || null), 'line-trigger', [6, 4])
    line(d.requests.map((r) => (pays(r) ? r.commit_at! : null)), 'line-commit', [2, 3])
    line(beside ? beside.agent.prompt : d.requests.map((r) => (r.usage ? r.usage.input + r.usage.cache_read + r.usage.cache_write : null)), 'line-reported', [1, 2], 1.5)
    const tops = d.requests.map((r, i) => Math.max(r.tokens, r.compact_at, beside?.agent.prompt[i] ?? 0))
    const peak = Math.max(...tops, 1)
    const room = Math.max(...d.requests.map((r) => r.available))
    const most = room < peak * 2.5 ? Math.max(peak, room) : peak
    return [{
      width, height, legend: { show: false }, padding: [8, 8, 0, 0],
      scales: { x: { time: false, range: [xs[0], xs[xs.length - 1]] }, y: { range: [0, most * 1.05] } },
      axes: axes(c, short), series,
      cursor: { y: false, drag: { x: false, y: false }, points: { show: false } },
      hooks: { setCursor: [(u) => point(u.cursor.idx == null ? null : Math.min(u.cursor.idx, d.requests.length - 1))] },
    }, data as uPlot.AlignedData]
  }, [d, beside, scheme], (u) => {
    const first = d.requests[0].n, last = first + d.requests.length
    const at = (n: number) => Math.round(u.valToPos(Math.min(n, last), 'x') + u.over.offsetLeft)
    place(d.plans.map((p, i) => ({ p, n: i + 1, left: at(p.request) })).filter(({ p }) => p.request >= first))
    placeOwn((beside?.compacted ?? []).map((n) => ({ n, left: at(n) })))
  })
  const said = useMemo(() => {
    const last = d.requests[d.requests.length - 1]
    return `Context size of ${plural(d.requests.length, 'request')}, now ${num(last.tokens)} of ${num(last.available)} tokens; ${plural(cuts(d).length, 'compaction')}, listed below.`
  }, [d])
  return <figure class="timeline" aria-label={said}>
    <figcaption>
      <span>Context by request{d.earlier > 0 ? `, the last ${num(d.requests.length)} of ${num(d.requests.length + d.earlier)}` : ''}</span>
      <span class="keys">
        {own.length > 0 && <span>◆ the agent compacted by itself</span>}
        <span class="key available">available</span><span class="key trigger">compacts at</span>
        {d.requests.some(pays) && <span class="key commit">a rewrite pays</span>}
        {(beside ? beside.agent.prompt.some((x) => x !== null) : d.requests.some((r) => r.usage)) && <span class="key reported">{beside ? 'what the agent sent, reported' : 'reported'}</span>}
      </span>
    </figcaption>
    <div class="drops">
      {own.map(({ n, left }) => <span key={`own.${n}`} class="own" style={{ left: `${left}px` }} role="img" title={`The agent compacted by itself before request ${num(n)}`} aria-label={`The agent compacted by itself before request ${num(n)}`}>◆</span>)}
      {marks.map(({ p, left, n }) => <a key={`${p.id}.${n}`} class={`drop ${names(p).toLowerCase()}${p.undone ? ' undone' : ''}`} style={{ left: `${left}px` }} href={href({ id: d.id, tab: 'plan', arg: p.id })}
        aria-current={p.id === chosen ? 'true' : undefined}
        title={`${names(p)} before request ${num(p.request)}: ${num(p.tokens_before)} → ${num(p.tokens_after)} tokens. ${p.why ?? ''}`}
        aria-label={`${names(p)} ${n} before request ${num(p.request)}: ${num(p.tokens_before)} to ${num(p.tokens_after)} tokens, ${signed(p.tokens_after - p.tokens_before)}`}>
        <span aria-hidden="true">{p.by === 'undo' ? '▲' : names(p) === 'Repair' ? '▽' : '▼'}</span></a>)}
    </div>
    <div class="plot" ref={box} />
  </figure>
}

// Costs are the share of each prompt that came from the cache, and what all
// requests so far cost.
export function Costs({ d, beside }: { d: Detail; beside: Beside | null }) {
  const scheme = useScheme()
  const ours = beside
    ? { share: d.requests.map((_, i) => ratio(beside.winnow.read[i], beside.winnow.prompt[i])), dollars: beside.winnow.dollars }
    : { share: d.requests.map((r) => r.cache_share), dollars: d.requests.map((r) => r.dollars) }
  const theirs = beside ? { share: d.requests.map((_, i) => ratio(beside.agent.read[i], beside.agent.prompt[i])), dollars: beside.agent.dollars } : null
  const shares = ours.share.some((x) => x !== null), money = ours.dollars.some((x) => x !== null)
  const steps = uPlot.paths.stepped!({ align: 1 })
  const make = (lists: ((number | null)[] | undefined)[], top: number | null, format: (n: number) => string) => (width: number): [uPlot.Options, uPlot.AlignedData] | null => {
    const c = colours()
    const data: (number | null)[][] = [numbers(d)]
    const series: uPlot.Series[] = [{}]
    lists.forEach((l, i) => {
      if (!l || !l.some((x) => x !== null)) return
      data.push(closed(l))
      series.push({ stroke: c(i === 0 ? 'line-ours' : 'line-reported'), width: 1.5, dash: i === 0 ? [] : [1, 2], paths: steps, points: { show: false }, spanGaps: true })
    })
    const xs = data[0] as number[]
    const peak = Math.max(0.0001, ...data.slice(1).flat().map((x) => x ?? 0))
    return [{
      width, height: low, legend: { show: false }, padding: [8, 8, 0, 0], cursor: { show: false },
      scales: { x: { time: false, range: [xs[0], xs[xs.length - 1]] }, y: { range: [0, top ?? peak * 1.08] } },
      axes: axes(c, format), series,
    }, data as uPlot.AlignedData]
  }
  const first = usePlot(low, make([ours.share, theirs?.share], 1, (n) => `${Math.round(n * 100)} %`), [d, beside, scheme, shares])
  const second = usePlot(low, make([running(ours.dollars), theirs ? running(theirs.dollars) : undefined], null, (n) => (n === 0 ? '$0' : dollars(n))), [d, beside, scheme, money])
  const how = beside ? 'under winnow, estimated' : 'reported'
  return <div class="costs">
    {shares ? <figure aria-label={`Share of each prompt that was read from the cache, ${how}; the last ${text(ours.share)}`}><figcaption>From the cache, of each prompt, {how}</figcaption><div class="plot" ref={first} /></figure> : <p class="facts">Share from the cache: unknown, since nothing was reported.</p>}
    {money ? <figure aria-label={`Dollars of all requests so far, ${how}`}><figcaption>Dollars so far, {beside ? 'under winnow estimated' : 'reported tokens at listed prices'}{theirs && theirs.dollars.some((x) => x !== null) && <span class="key reported">as the agent paid, reported</span>}</figcaption><div class="plot" ref={second} /></figure> : <p class="facts">Dollars: unknown, since nothing was reported or the model has no listed price.</p>}
  </div>
}

const ratio = (n: number | null, of: number | null) => (n === null || of === null || of <= 0 ? null : n / of)

const text = (list: (number | null)[]) => {
  const last = [...list].reverse().find((x) => x !== null)
  return last === undefined || last === null ? 'unknown' : percent(last, 1)
}

// running adds up; what is unknown adds nothing and shows nothing.
function running(list: (number | null)[]): (number | null)[] {
  let sum = 0
  return list.map((x) => (x === null ? null : (sum += x)))
}

// Weeks are minutes waited, week by week, as it was and with winnow.
export function Weeks({ weeks }: { weeks: { name: string; was: number; ours: number }[] }) {
  const scheme = useScheme()
  const box = usePlot(low * 2, (width) => {
    const c = colours()
    const bars = (shift: 1 | -1) => uPlot.paths.bars!({ size: [0.4, 40], align: shift })
    const top = Math.max(1, ...weeks.map((w) => Math.max(w.was, w.ours)))
    const [x, y] = axes(c, (n) => `${num(n)} min`)
    return [{
      width, height: low * 2, legend: { show: false }, padding: [8, 8, 0, 0], cursor: { show: false },
      scales: { x: { time: false, range: [-0.5, weeks.length - 0.5] }, y: { range: [0, top * 1.08] } },
      axes: [{ ...x, values: (_, v) => v.map((n) => weeks[n]?.name ?? '') }, { ...y, size: 60 }],
      series: [{}, { fill: c('kind-tool_results'), width: 0, paths: bars(-1), points: { show: false } }, { fill: c('kind-user'), width: 0, paths: bars(1), points: { show: false } }],
    }, [weeks.map((_, i) => i), weeks.map((w) => w.was), weeks.map((w) => w.ours)]]
  }, [weeks, scheme])
  return <figure aria-label="Minutes waited for summaries and re-reads, week by week">
    <figcaption><span>Minutes waited, week by week</span><span class="keys"><span><span class="swatch tool_results" /> as it was</span><span><span class="swatch user" /> with winnow</span></span></figcaption>
    <div class="plot" ref={box} />
  </figure>
}
