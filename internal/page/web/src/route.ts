// Every state of the page has an address, behind the # so that a page that is a
// file has them too: #/c/ID/TAB/ARG?find=WORDS.
import { useEffect, useState } from './preact'

export interface Route { id: string; tab: string; arg: string; find: string; show: string }

export function parse(hash: string): Route {
  const [path, query] = hash.replace(/^#\/?/, '').split('?', 2)
  const bits = path.split('/').map(decode)
  const q = new URLSearchParams(query ?? '')
  const r: Route = { id: '', tab: '', arg: '', find: q.get('find') ?? '', show: q.get('show') ?? '' }
  if (bits[0] === 'c') {
    r.id = bits[1] ?? ''
    r.tab = bits[2] ?? ''
    r.arg = bits.slice(3).join('/')
  }
  return r
}

function decode(s: string): string {
  try { return decodeURIComponent(s) } catch { return s }
}

export function href(r: Partial<Route>): string {
  let path = '#/'
  if (r.id) {
    path += 'c/' + encodeURIComponent(r.id)
    if (r.tab) path += '/' + encodeURIComponent(r.tab)
    if (r.tab && r.arg) path += '/' + encodeURIComponent(r.arg)
  }
  const q = new URLSearchParams()
  if (r.find) q.set('find', r.find)
  if (r.show) q.set('show', r.show)
  const query = q.toString()
  return query ? `${path}?${query}` : path
}

export function go(r: Partial<Route>, replace = false): void {
  const to = href(r)
  if (replace) location.replace(to)
  else location.hash = to
}

export function useRoute(): Route {
  const [hash, set] = useState(location.hash)
  useEffect(() => {
    const moved = () => set(location.hash)
    addEventListener('hashchange', moved)
    return () => removeEventListener('hashchange', moved)
  }, [])
  return parse(hash)
}
