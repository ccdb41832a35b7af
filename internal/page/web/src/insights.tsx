import { Fragment, h } from './preact'
import { dollars, num, plural, when } from './format'
import { Fact } from './overview'
import { Weeks } from './timeline'

interface Tally { hit: number; of: number }

interface Sum {
  compactions: number; rereads: number; edits_ready: Tally; winnow_edits_ready: Tally
  dollars: number; winnow_dollars: number; thrifty_dollars: number
  minutes_waited: number; winnow_minutes_waited: number; dollars_compaction: number
}

// Report is what winnow insights found.
export interface Report {
  made: string; headline: string[]; lines: string[] | null
  moments: { say: string; file: string }[]
  report: {
    since?: string; sessions: number; compacted: number; prices_assumed: number; default_model: string
    total: Sum
    agents: (Sum & { agent: string; sessions: number; compacted: number })[] | null
    weeks: (Sum & { monday: string })[] | null
    worst: (Sum & { file: string; agent: string; model: string; last: string })[] | null
  }
}

const minutes = (n: number) => (n > 0 && n < 1 ? `${num(n * 60)} s` : n < 60 ? `${num(n)} min` : `${num(Math.floor(n / 60))} h ${num(n % 60)} min`)
const share = (t: Tally) => `${num(t.hit)} of ${num(t.of)}`

// Insights is what compaction cost in all sessions of a machine.
export function Insights({ doc }: { doc: Report }) {
  const r = doc.report, t = r.total
  return <main id="main" class="insights">
    <section class="overview">
      <h1>What compaction cost</h1>
      <p class="sub">Made on {doc.made} from {plural(r.sessions, 'session')} on this machine{r.since ? ` that were last used since ${r.since}` : ''}, {num(r.compacted)} of them compacted by their agents.</p>
      <p class="next"><strong>{doc.headline[0]}</strong> {doc.headline.slice(1).join(' ')}</p>
      <dl class="facts-row">
        <Fact name="As it was" value={dollars(t.dollars)} unit="" note={`${plural(t.compactions, 'compaction')}, ${plural(t.rereads, 're-read')}`} how="recorded usage, listed prices" />
        <Fact name="With winnow" value={dollars(t.winnow_dollars)} unit="" note="nothing set" how="replayed" />
        <Fact name="With winnow, thrifty" value={dollars(t.thrifty_dollars)} unit="" note="--preset thrifty" how="replayed" />
        <Fact name="Waited" value={minutes(t.minutes_waited)} unit="" note={`with winnow ${minutes(t.winnow_minutes_waited)}`} how="by the files’ times" />
      </dl>
      {(doc.lines ?? []).map((l) => <p key={l}>{l}</p>)}
    </section>
    {doc.moments.length > 0 && <Fragment><h2>The worst moments</h2><ul>
      {doc.moments.map((m) => <li key={m.say}>{m.say} <code>winnow page {m.file}</code></li>)}
    </ul></Fragment>}
    {r.weeks && r.weeks.length > 1 && <Weeks weeks={r.weeks.map((w) => ({ name: w.monday.slice(5), was: w.minutes_waited, ours: w.winnow_minutes_waited }))} />}
    {r.worst && r.worst.length > 0 && <table class="rows">
      <caption>The sessions that suffered most</caption>
      <thead><tr><th scope="col">Session</th><th scope="col">Agent</th><th scope="col">Last used</th><th scope="col" class="num">Compactions</th><th scope="col" class="num">Waited</th><th scope="col" class="num">Re-reads</th><th scope="col" class="num">Their cost</th><th scope="col" class="num">Session</th><th scope="col" class="num">With winnow</th></tr></thead>
      <tbody>{r.worst.map((s) => <tr key={s.file}>
        <th scope="row" class="path" title={s.file}>{s.file.split('/').pop()}</th><td>{s.agent} {s.model}</td><td class="num">{when(s.last).slice(0, 10)}</td>
        <Cells s={s} /><td class="num" data-label="session">{dollars(s.dollars)}</td><td class="num" data-label="with winnow">{dollars(s.winnow_dollars)}</td>
      </tr>)}</tbody>
    </table>}
    {r.agents && r.compacted > 0 && <table class="rows">
      <caption>By agent. Edits are those in the 30 calls after a compaction. One is ready if the text that it replaces was in the request right after the compaction.</caption>
      <thead><tr><th scope="col">Agent</th><th scope="col" class="num">Sessions</th><th scope="col" class="num">Compactions</th><th scope="col" class="num">Waited</th><th scope="col" class="num">Re-reads</th><th scope="col" class="num">Their cost</th><th scope="col" class="num">Edits ready</th><th scope="col" class="num">With winnow</th></tr></thead>
      <tbody>{r.agents.map((a) => <tr key={a.agent}>
        <th scope="row">{a.agent}</th><td class="num" data-label="sessions">{num(a.sessions)}</td>
        <Cells s={a} /><td class="num" data-label="edits ready">{share(a.edits_ready)}</td><td class="num" data-label="with winnow">{share(a.winnow_edits_ready)}</td>
      </tr>)}</tbody>
    </table>}
    <h2>How this was measured</h2>
    <p>Dollars are added up from the usage that the files record, at list prices; the calls that wrote summaries are in no file and are estimated. Each session was then replayed by the rules of winnow’s scoreboard, with its pauses: as its agent compacted it, and as winnow would have with nothing set and thrifty, in the same window and at the same prices; the bill with winnow is the recorded one, changed as the replays differ{r.prices_assumed > 0 && ` (${plural(r.prices_assumed, 'session')} at the prices of ${r.default_model}, since their model’s are not known)`}. What the agent read again stands in its recorded session, so winnow’s replay pays for it too. Each summary and each re-read counts as long as its session records it, else a summary as 73 seconds, the median seen in the field, and a re-read as a median step of its session. Presence is not understanding: what stands in the context may still be overlooked.</p>
  </main>
}

function Cells({ s }: { s: Sum }) {
  return <Fragment>
    <td class="num" data-label="compactions">{num(s.compactions)}</td><td class="num" data-label="waited">{minutes(s.minutes_waited)}</td>
    <td class="num" data-label="re-reads">{num(s.rereads)}</td><td class="num" data-label="their cost">{dollars(s.dollars_compaction)}</td>
  </Fragment>
}
