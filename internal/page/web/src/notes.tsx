import { h, useState } from './preact'
import { live, post } from './api'
import { Shown } from './main'

// Notes are what the model, or a person for it, wrote down. They are shown, added,
// changed and removed here.
export function Notes({ shown }: { shown: Shown }) {
  const d = shown.detail
  const [editing, edit] = useState('') // the id of the note that is changed
  const [text, type] = useState('')
  const write = async (replaces: string, text: string) => {
    try {
      const done = await post<{ say: string }>(`conversations/${encodeURIComponent(d.id)}/note`, { plan: d.plan, replaces, text })
      edit('')
      type('')
      await shown.reload(done.say)
    } catch (err) { shown.complain(err) }
  }
  const may = live && d.readable
  if (!d.notes.length && !may) return null
  return <details class="notes" open={d.notes.length > 0}>
    <summary>Notes: {d.notes.length ? `${d.notes.length}, which the model sees after every compaction` : 'none yet'}</summary>
    <ul>
      {d.notes.map((n) => <li key={n.id}>
        {n.text} <span class="quiet">after message {n.message}, {n.time.slice(0, 16).replace('T', ' ')}</span>
        {may && <button type="button" aria-label={`Change note ${n.id}`} onClick={() => { edit(n.id); type(n.text) }}>Change</button>}
        {may && <button type="button" aria-label={`Remove note ${n.id}`} onClick={() => write(n.id, '')}>Remove</button>}
      </li>)}
    </ul>
    {may && <form class="ask small" onSubmit={(e: Event) => { e.preventDefault(); write(editing, text) }}>
      <label for="note">{editing ? `Change ${editing}` : 'Note'}</label>
      <input id="note" value={text} maxLength={600} onInput={(e: Event) => type((e.target as HTMLInputElement).value)} />
      <button type="submit" disabled={!text.trim()}>{editing ? 'Save' : 'Add'}</button>
    </form>}
  </details>
}
