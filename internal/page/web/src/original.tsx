import { Fragment, h, useEffect, useState } from './preact'
import { original, Page } from './api'
import { bytes, num, plural } from './format'

// Original shows what a handle hides, a page at a time.
export function Original({ handle, from, mark, words: words0, complain }: { handle: string; from?: number; mark?: number; words?: string; complain: (err: unknown) => void }) {
  const [pages, set] = useState<Page[]>([])
  const [words, type] = useState('')
  const [find, look] = useState('')
  const [why, lose] = useState('')
  const read = async (at: number, before: Page[]) => {
    try { set([...before, await original(handle, at, find)]) } catch (err) {
      lose(err instanceof Error ? err.message : String(err))
    }
  }
  useEffect(() => { set([]); read(find ? 1 : from ?? 1, []) }, [handle, find])
  if (why) return <p class="quiet">{why}</p>
  if (pages.length === 0) return <p class="quiet">Reading…</p>
  const first = pages[0], last = pages[pages.length - 1]
  return <div class="original">
    <form class="ask small" onSubmit={(e) => { e.preventDefault(); look(words.trim()) }}>
      <span class="facts">The original: {plural(first.total, 'line')}, {bytes(first.bytes)}{first.matches ? `; ${num(first.matches)} with these words` : ''}</span>
      <input type="search" value={words} aria-label={`Find in the original ${handle}`} placeholder="find" onInput={(e) => type((e.target as HTMLInputElement).value)} autocomplete="off" spellcheck={false} />
    </form>
    <Lines pages={pages} mark={mark} words={find || words0 || ''} />
    {last.next && <button type="button" onClick={() => read(last.next!, pages)}>Show on from line {num(last.next)}</button>}
  </div>
}

// Found is a text in which words are marked.
export function Found({ text, words }: { text: string; words: string }) {
  const want = words.split(/\s+/).filter(Boolean).map((w) => w.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'))
  if (want.length === 0) return <Fragment>{text}</Fragment>
  return <Fragment>{text.split(new RegExp(`(${want.join('|')})`, 'i')).map((s, i) => (i % 2 ? <mark key={i}>{s}</mark> : s))}</Fragment>
}

function Lines({ pages, mark, words }: { pages: Page[]; mark?: number; words: string }) {
  return <div class="text" tabIndex={0} role="region" aria-label="The original">
    <table role="presentation"><tbody>
      {pages.map((p) => p.lines.map((l, i) => <tr key={`${l.n}.${i}`} class={l.n === mark ? 'mark' : undefined}>
        <td class="n">{l.cont ? '' : l.n}</td><td class="line"><Found text={l.text} words={words} /></td>
      </tr>))}
    </tbody></table>
  </div>
}
