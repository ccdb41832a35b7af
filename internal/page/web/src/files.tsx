import { Fragment, h, useEffect, useMemo, useState } from './preact'
import { File, FileText, get } from './api'
import { num, percent, plural } from './format'
import { href, Route } from './route'
import { Shown } from './main'

const step = 40

// common is the folder that all paths are in.
function common(paths: string[]): string {
  if (paths.length < 2) return ''
  let root = paths[0].slice(0, paths[0].lastIndexOf('/') + 1)
  for (const p of paths) {
    while (root && !p.startsWith(root)) root = root.slice(0, root.lastIndexOf('/', root.length - 2) + 1)
  }
  return root.length > 1 ? root : ''
}

// Files are as the conversation left them, with what the model sees of each.
export function Files({ shown, route }: { shown: Shown; route: Route }) {
  const d = shown.detail
  const [files, set] = useState<File[] | null>(null)
  useEffect(() => {
    let over = false
    get<{ files: File[] }>(`conversations/${encodeURIComponent(d.id)}/files`).then((r) => over || set(r.files), (err) => over || shown.complain(err))
    return () => { over = true }
  }, [d.id, d.revision])
  const [most, more] = useState(step)
  const root = useMemo(() => common((files ?? []).map((f) => f.path)), [files])
  if (route.arg) return <One shown={shown} path={route.arg} />
  if (!files) return <p class="quiet">Reading…</p>
  return <section aria-labelledby="files-title">
    <h2 id="files-title">Files as they stand</h2>
    {root && <p class="facts">{plural(files.length, 'file')}, touched last first; paths are below <code>{root}</code></p>}
    {files.length === 0
      ? <p class="quiet">The conversation shows no files.</p>
      : <div class="scroll" tabIndex={0} role="region" aria-labelledby="files-title"><table class="rows">
          <thead><tr><th scope="col">File</th><th scope="col">Known</th><th scope="col" class="num">Lines</th><th scope="col" class="num">Seen by the model</th><th scope="col" class="num">Last touched</th></tr></thead>
          <tbody>{files.slice(0, most).map((f) => <tr key={f.path}>
            <th scope="row" class="path"><a href={href({ id: d.id, tab: 'files', arg: f.path })}>{f.path.slice(root.length)}</a></th>
            <td class="known">{[f.whole ? 'whole' : 'in part', f.edited ? 'edited' : '', f.unsure ? 'may have changed' : ''].filter(Boolean).join(', ')}</td>
            <td class="num" data-label="lines">{num(f.lines)}</td>
            <td class="num" data-label="seen by the model">{num(f.shown)} <span class="facts">{percent(f.shown, f.lines)}</span></td>
            <td class="num" data-label="last touched"><a href={href({ id: d.id, tab: 'messages', arg: String(f.touched) })}>message {num(f.touched)}</a></td>
          </tr>)}</tbody>
        </table></div>}
    {files.length > most && <button type="button" onClick={() => more(most + step)}>Show {num(Math.min(step, files.length - most))} more of {num(files.length)}</button>}
  </section>
}

function One({ shown, path }: { shown: Shown; path: string }) {
  const d = shown.detail
  const [file, set] = useState<FileText | null>(null)
  useEffect(() => {
    let over = false
    get<FileText>(`conversations/${encodeURIComponent(d.id)}/file?path=${encodeURIComponent(path)}`).then((f) => over || set(f), (err) => over || shown.complain(err))
    return () => { over = true }
  }, [d.id, d.revision, path])
  const lines = file ? file.regions.reduce((n, r) => n + r.lines.length, 0) : 0
  const seen = file ? file.regions.reduce((n, r) => n + r.lines.filter((l) => l.shown).length, 0) : 0
  return <section aria-labelledby="file-title">
    <p><a href={href({ id: d.id, tab: 'files' })}>All files</a></p>
    <h2 id="file-title" class="path">{path}</h2>
    {!file ? <p class="quiet">Reading…</p> : <Fragment>
      <p class="facts">{plural(lines, 'known line')}{file.whole ? ', which is all of it' : ''}; the model sees {num(seen)} ({percent(seen, lines)}), marked at the left{file.left ? `; ${num(file.left)} more lines are left out here` : ''}.</p>
      <div class="text file" tabIndex={0} role="region" aria-labelledby="file-title"><table role="presentation">
        {file.regions.map((r, k) => <tbody key={k}>
          {k > 0 && <tr class="gap"><td class="n">⋯</td><td class="line">not known</td></tr>}
          {r.lines.map((l, i) => <tr key={i} class={[l.shown ? 'seen' : 'unseen', l.edited ? 'edited' : ''].join(' ')} title={l.doubt ? `may have changed: ${l.doubt}` : undefined}>
            <td class="n">{r.from ? r.from + i : '?'}{l.doubt ? '?' : ''}</td><td class="line">{l.text}</td>
          </tr>)}
        </tbody>)}
      </table></div>
    </Fragment>}
  </section>
}
