// The interface of docs/control.md: its nouns, and the client that asks for them.

export interface Kinds {
  system: number; tools: number; user: number; assistant: number
  tool_results: number; thinking: number; attachments: number; summaries: number; unseen: number
}

export interface Usage { input: number; cache_read: number; cache_write: number; output: number }

export interface Request {
  n: number; revision: number; time: string; model?: string; gateway?: string
  messages: number; sent: number
  tokens: number; method: string; kinds: Kinds
  window: number; available: number
  compact_at: number; compact_why?: string; commit_at?: number
  plan?: string; new?: boolean; why?: string; saved: number
  usage: Usage | null; cache_share: number | null; dollars: number | null
  passed?: string; overflows?: number; status?: number
}

export interface Totals {
  requests: number; compactions: number; overflows: number
  counted: number; saved: number
  usage: Usage; reported: number
  cache_share: number | null; dollars: number | null; priced: number
}

export interface Conversation {
  id: string; parent?: string; shared?: number
  source: string; name?: string; title?: string; folder?: string
  model?: string; dialect?: string
  created: string; used: string
  revision: number; plan: string
  messages: number; pins: number
  last?: Request; totals: Totals
}

export interface PlanInfo {
  id: string; parent?: string; time: string
  by: string; request: number; why?: string; focus?: string
  messages: number; edits: number
  tokens_before: number; tokens_after: number; saved: number
  in_force?: boolean; undone?: boolean
}

export interface Pin { message: number; part: number; from?: string }

export interface Note { id: string; message: number; time: string; text: string }

export interface Detail extends Conversation {
  next: { do: string; say: string; tokens: number; requests: number | null; growth: number }
  requests: Request[]; earlier: number
  plans: PlanInfo[]; pinned: Pin[]; notes: Note[]
  forks: { id: string; shared: number }[]
  readable: boolean; why?: string
}

export interface Hunk {
  op: string; from: number; to: number; part: number; keep?: number[]
  role?: string; kind?: string; about?: string
  stage?: string; why?: string; made?: string; added?: boolean; handle?: string
  tokens_before: number; tokens_after: number
  old?: string; old_bytes?: number; new?: string; new_bytes?: number
  turns?: { from: number; to: number; asked?: string; did: string; said?: string; left: string }[]
  pinned?: boolean
}

export interface Run { band: string; about?: string; message: number; tokens: number; lines: number; text?: string; bytes: number }

export interface View {
  plan: string; tokens: number; fixed: number; whole: number; available: number; compact_at: number
  next: number | null; later: number | null
  files: Record<string, number>
  runs: Run[]
}

export interface Patch {
  plan: string; parent?: string; messages: number
  tokens_before: number; tokens_after: number; saved: number
  hunks: Hunk[]
}

export interface Tally { messages: number; tokens_before: number; tokens_after: number }

export interface Report {
  messages_before: number; messages_after: number
  kept: Tally; reduced: Tally; removed: Tally
  stages: { name: string; edits: number; saved: number }[]
  evidence?: Record<string, { kept: number; total: number }>
}

export interface Part {
  part: number; kind: string; name?: string; tokens: number
  text?: string; bytes: number; handle?: string; pinned?: boolean
}

export interface Message {
  message: number; role: string; tokens: number; parts: Part[]
  shown: string; edit?: string; pinned?: boolean
}

export interface Messages { messages: Message[]; total: number; fits: number; next?: number; tools: string[] }

export interface File {
  path: string; lines: number; touched: number
  edited?: boolean; whole?: boolean; unsure?: boolean; shown: number
}

export interface FileText {
  path: string; whole: boolean; left?: number
  regions: { from: number; lines: { text: string; shown: boolean; edited?: boolean; doubt?: string }[] }[]
}

export interface Page {
  handle: string; where?: string; total: number; bytes: number
  lines: { n: number; text: string; cont?: boolean }[]
  next?: number; matches?: number; any?: boolean
}

export interface Hit { handle: string; line: number; message: number; role: string; text: string; where?: string }

export interface Results { hits: Hit[]; where?: string; more?: number }

export interface Costs { prompt: (number | null)[]; read: (number | null)[]; dollars: (number | null)[] }

export interface Beside { agent: Costs; winnow: Costs; compacted: number[] }

// Hint is something that was hidden and that the agent then fetched again.
export interface Hint { message: number; part: number; about: string; again: number; tokens: number }

export interface Done { plan: string; tokens_before: number; tokens_after: number; say: string }

// About says what the page was opened on. It stands in the document itself.
export interface About {
  // note is what a reader must know: that changes are not kept, for example.
  note?: string
  // progress says that the conversation may have to be made first.
  progress?: boolean
  // frozen are the answers by address, where the page is a file by itself.
  frozen?: Record<string, unknown>
}

export class Refused extends Error {
  constructor(readonly status: number, message: string) { super(message) }
}

export const about: About = (() => {
  const at = document.getElementById('about')
  return at && at.textContent ? JSON.parse(at.textContent) : {}
})()

export const live = !about.frozen

// base is the folder that the page and the interface are in.
const base = new URL('.', document.baseURI).pathname

async function answer<T>(r: Response): Promise<T> {
  let doc: any = null
  try { doc = await r.json() } catch { /* the status says it */ }
  if (!r.ok) {
    const said = doc?.error?.message ?? doc?.error ?? `the answer is ${r.status}`
    throw new Refused(r.status, String(said).replace(/^winnow: /, ''))
  }
  return doc as T
}

export async function get<T>(path: string): Promise<T> {
  if (about.frozen) {
    const doc = about.frozen[decodeURIComponent(path)]
    if (doc === undefined) throw new Refused(404, 'this is not in the file; open the page on the session itself')
    return doc as T
  }
  return answer<T>(await fetch(base + path, { headers: { Accept: 'application/json' } }))
}

export async function post<T>(path: string, body: unknown, signal?: AbortSignal): Promise<T> {
  if (about.frozen) throw new Refused(405, 'this page is a file; nothing can be done here')
  return answer<T>(await fetch(base + path, {
    method: 'POST', headers: { 'Content-Type': 'application/json', Accept: 'application/json' }, body: JSON.stringify(body), signal,
  }))
}

// follow listens to what happens to a conversation after a revision.
export function follow(id: string, since: number, heard: (kind: string, data: any) => void): () => void {
  if (about.frozen) return () => {}
  const s = new EventSource(`${base}conversations/${encodeURIComponent(id)}/events?since=${since}`)
  for (const kind of ['request', 'conversation', 'missed']) {
    s.addEventListener(kind, (e) => heard(kind, JSON.parse((e as MessageEvent).data)))
  }
  return () => s.close()
}

// messages returns those from a place on that a filter lets through: role, tool,
// shown and pinned, as a query.
export async function messages(id: string, from: number, limit: number, filter = ''): Promise<Messages> {
  const at = `conversations/${encodeURIComponent(id)}/messages`
  if (!about.frozen) return get<Messages>(`${at}?from=${from}&limit=${limit}${filter && '&' + filter}`)
  const all = await get<Message[]>(at)
  const q = new URLSearchParams(filter)
  const calls = (m: Message) => m.parts.map((p) => p.name).filter((n): n is string => !!n)
  const fit = all.filter((m) => (!q.get('role') || m.role === q.get('role')) && (!q.get('tool') || calls(m).includes(q.get('tool')!)) &&
    (!q.get('shown') || m.shown === q.get('shown')) && (!q.get('pinned') || m.pinned || m.parts.some((p) => p.pinned)))
  const rest = fit.filter((m) => m.message >= from)
  return { messages: rest.slice(0, limit), total: all.length, fits: fit.length, next: rest[limit]?.message, tools: [...new Set(all.flatMap(calls))].sort() }
}

export const conversation = (id: string) => get<Detail>(`conversations/${encodeURIComponent(id)}`)
export const patchOf = (id: string) => get<Patch>(`plans/${encodeURIComponent(id)}/patch`)
export const reportOf = (id: string) => get<Report>(`plans/${encodeURIComponent(id)}/report`)

export async function conversations(words: string): Promise<Conversation[]> {
  if (about.frozen) {
    const all = (await get<{ conversations: Conversation[] }>('conversations')).conversations
    const want = words.toLowerCase().split(/\s+/).filter(Boolean)
    return all.filter((c) => want.every((w) => `${c.name} ${c.title} ${c.folder} ${c.model}`.toLowerCase().includes(w)))
  }
  const q = words ? `?q=${encodeURIComponent(words)}` : ''
  return (await get<{ conversations: Conversation[] }>('conversations' + q)).conversations
}

// cuts are the plans that made a prompt smaller or were asked for; the others take
// one back, or mend what a provider would refuse.
export const cuts = (d: Detail) => d.plans.filter((p) => p.by === 'compact' || (p.by === 'request' && p.saved > 0))

// original returns lines of what a handle hides.
export async function original(handle: string, from: number, find: string): Promise<Page> {
  if (!about.frozen) {
    const q = new URLSearchParams({ from: String(from), lines: '200' })
    if (find) q.set('find', find)
    return get<Page>(`recall/${encodeURIComponent(handle)}?${q}`)
  }
  const all = await get<Page>(`recall/${handle}`)
  const words = find.toLowerCase().split(/\s+/).filter(Boolean)
  const fits = all.lines.filter((l) => l.n >= from && words.every((w) => l.text.toLowerCase().includes(w)))
  const lines = fits.slice(0, 200)
  return { ...all, lines, next: fits.length > 200 ? fits[200].n : undefined, matches: words.length ? fits.length : undefined }
}

// search finds words in what is hidden of a conversation.
export async function search(id: string, words: string): Promise<Results> {
  if (!about.frozen) return get<Results>(`conversations/${encodeURIComponent(id)}/search?q=${encodeURIComponent(words)}`)
  const want = words.toLowerCase().split(/\s+/).filter(Boolean)
  const hits: Hit[] = []
  for (const [path, doc] of Object.entries(about.frozen!)) {
    if (!path.startsWith('recall/')) continue
    const page = doc as Page & { message?: number; role?: string }
    for (const l of page.lines) {
      if (want.length && want.every((w) => l.text.toLowerCase().includes(w))) {
        hits.push({ handle: page.handle, line: l.n, message: page.message ?? -1, role: page.role ?? '', text: l.text })
      }
    }
  }
  return { hits: hits.slice(0, 20), more: Math.max(0, hits.length - 20) }
}
