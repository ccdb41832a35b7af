import { h, useEffect, useState } from './preact'
import { Conversation, conversations } from './api'
import { dollars, num, percent, plural, unknown } from './format'
import { href } from './route'

const left = (c: Conversation) => (c.last && c.last.compact_at ? c.last.compact_at - c.last.tokens : Infinity)
const fullness = (c: Conversation) => (c.last ? c.last.tokens / c.last.available : -1)
const called = (c: Conversation) => c.name || c.title || c.id

// Start is the page without a conversation: what all of them came to, which are
// fullest, and which is compacted next.
export function Start({ complain }: { complain: (err: unknown) => void }) {
  const [all, set] = useState<Conversation[] | null>(null)
  useEffect(() => { conversations('').then(set, complain) }, [])
  if (!all) return <p class="quiet">Reading…</p>
  if (all.length === 0) return <p class="quiet">Nothing was sent yet.</p>
  const sum = (of: (c: Conversation) => number) => all.reduce((n, c) => n + of(c), 0)
  const priced = all.filter((c) => c.totals.dollars !== null)
  const next = [...all].sort((a, b) => left(a) - left(b))[0]
  const rows = [...all].sort((a, b) => fullness(b) - fullness(a))
  return <section aria-labelledby="start-title">
    <h1 id="start-title">{plural(all.length, 'conversation')}</h1>
    {left(next) < Infinity && <p class="next"><strong>What is compacted next?</strong> <a href={href({ id: next.id })}>{called(next)}</a>, {left(next) > 0 ? `in ${plural(left(next), 'token')}, at ${num(next.last!.compact_at)}` : 'with its next request'}.</p>}
    <dl class="facts-row">
      <div><dt>Requests</dt><dd class="value">{num(sum((c) => c.totals.requests))}</dd></div>
      <div><dt>Compactions</dt><dd class="value">{num(sum((c) => c.totals.compactions))}</dd></div>
      <div><dt>Tokens kept out</dt><dd class="value">{num(sum((c) => c.totals.saved))}</dd><dd class="facts">of all prompts, {num(sum((c) => c.totals.counted + c.totals.saved))} without plans · estimated</dd></div>
      <div><dt>Dollars</dt><dd class="value">{priced.length ? dollars(priced.reduce((n, c) => n + c.totals.dollars!, 0)) : unknown}</dd><dd class="facts">for {num(sum((c) => c.totals.priced))} of {plural(sum((c) => c.totals.requests), 'request')}</dd></div>
    </dl>
    <table class="rows">
      <caption>Fullest first; sizes are those of each one's last request</caption>
      <thead><tr><th scope="col">Conversation</th><th scope="col" class="num">Full</th><th scope="col" class="num">Last prompt</th><th scope="col" class="num">Left before it is compacted</th><th scope="col" class="num">Compactions</th></tr></thead>
      <tbody>{rows.map((c) => <tr key={c.id}>
        <th scope="row" class="name"><a href={href({ id: c.id })}>{called(c)}</a></th>
        <td class="num" data-label="full">{c.last ? percent(c.last.tokens, c.last.available) : unknown}</td>
        <td class="num" data-label="last prompt">{c.last ? `${num(c.last.tokens)} of ${num(c.last.available)}` : unknown}</td>
        <td class="num" data-label="left">{left(c) < Infinity ? num(left(c)) : unknown}</td>
        <td class="num" data-label="compactions">{num(c.totals.compactions)}</td>
      </tr>)}</tbody>
    </table>
  </section>
}
