import { h, useEffect, useState } from './preact'
import { original, Page } from './api'
import { bytes, num, plural } from './format'

// Original shows what a handle hides, a page at a time.
export function Original({ handle, from, mark, complain }: { handle: string; from?: number; mark?: number; complain: (err: unknown) => void }) {
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
    <Lines pages={pages} mark={mark} />
    {last.next && <button type="button" onClick={() => read(last.next!, pages)}>Show on from line {num(last.next)}</button>}
  </div>
}

function Lines({ pages, mark }: { pages: Page[]; mark?: number }) {
  return <div class="text" tabIndex={0} role="region" aria-label="The original">
    <table role="presentation"><tbody>
      {pages.map((p) => p.lines.map((l, i) => <tr key={`${l.n}.${i}`} class={l.n === mark ? 'mark' : undefined}>
        <td class="n">{l.cont ? '' : l.n}</td><td class="line">{l.text}</td>
      </tr>))}
    </tbody></table>
  </div>
}
