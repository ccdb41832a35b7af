import { h, useEffect, useState } from './preact'
import { Results, search } from './api'
import { num, plural } from './format'
import { go, href, Route } from './route'
import { Shown } from './main'
import { Found, Original } from './original'

// Search looks for words in what the model does not see.
export function Search({ shown, route }: { shown: Shown; route: Route }) {
  const d = shown.detail
  const [words, type] = useState(route.find)
  const [found, set] = useState<Results | null>(null)
  useEffect(() => type(route.find), [route.find])
  useEffect(() => {
    let over = false
    if (!route.find) { set(null); return }
    search(d.id, route.find).then((r) => over || set(r), (err) => over || shown.complain(err))
    return () => { over = true }
  }, [d.id, d.revision, route.find])
  return <section aria-labelledby="search-title">
    <h2 id="search-title">Search what is hidden</h2>
    <form class="ask" onSubmit={(e) => { e.preventDefault(); go({ id: d.id, tab: 'search', find: words.trim() }) }}>
      <input id="words" type="search" value={words} aria-label="Words" onInput={(e) => type((e.target as HTMLInputElement).value)} autocomplete="off" spellcheck={false} />
      <button type="submit">Search</button>
    </form>
    {found && <p class="facts" role="status">{found.hits.length === 0 ? 'No hidden text has these words.' : `${plural(found.hits.length, 'place')}${found.more ? ` of ${num(found.hits.length + found.more)}` : ''}, best first`}</p>}
    <ol class="hits">
      {found?.hits.map((x, i) => {
        const key = `${x.handle}:${x.line}`
        const open = route.show === key
        return <li key={i}>
          <a href={href({ id: d.id, tab: 'search', find: route.find, show: open ? '' : key })} aria-expanded={open}>
            <span class="facts">message {num(x.message)} {x.role}, line {num(x.line)}, {x.handle}</span>
            <code><Found text={x.text} words={route.find} /></code>
          </a>
          {open && <Original handle={x.handle} from={Math.max(1, x.line - 5)} mark={x.line} words={route.find} complain={shown.complain} />}
        </li>
      })}
    </ol>
  </section>
}
