// Numbers as people read them. Every one has its unit beside it, and a share its
// whole; what is not known is said to be unknown.

const integers = new Intl.NumberFormat('en-US', { maximumFractionDigits: 0 })

export const unknown = 'unknown'

export const num = (n: number) => integers.format(n).replace('-', '−')

export const signed = (n: number) => (n > 0 ? '+' : '') + num(n)

// short is for axes: 140k, 1.2M.
export function short(n: number): string {
  if (Math.abs(n) >= 1e6) return `${+(n / 1e6).toFixed(1)}M`
  if (Math.abs(n) >= 1000) return `${Math.round(n / 1000)}k`
  return String(n)
}

export function percent(n: number, of: number): string {
  if (!(of > 0)) return unknown
  const p = (100 * n) / of
  const text = Math.abs(p) < 10 && p !== 0 ? p.toFixed(1) : p.toFixed(0)
  return text.replace('-', '−') + ' %'
}

export function dollars(d: number | null | undefined): string {
  if (d === null || d === undefined) return unknown
  const digits = d === 0 || Math.abs(d) >= 100 ? 0 : Math.abs(d) >= 1 ? 2 : 4
  return (d < 0 ? '−' : '') + '$' + Math.abs(d).toFixed(digits)
}

export const plural = (n: number, noun: string) => `${num(n)} ${noun}${n === 1 ? '' : 's'}`

export function bytes(n: number): string {
  if (n < 1000) return plural(n, 'byte')
  if (n < 1e6) return `${(n / 1000).toFixed(1)} kB`
  return `${(n / 1e6).toFixed(1)} MB`
}

// when is a time in the reader's zone; the zero time is unknown.
export function when(time: string | undefined): string {
  if (!time || time.startsWith('0001-')) return ''
  const d = new Date(time)
  const two = (n: number) => String(n).padStart(2, '0')
  return `${d.getFullYear()}-${two(d.getMonth() + 1)}-${two(d.getDate())} ${two(d.getHours())}:${two(d.getMinutes())}`
}

// place names messages as reports do.
export function place(from: number, to: number, part: number): string {
  if (part >= 0) return `message ${from} part ${part}`
  if (from === to) return `before message ${from}`
  if (to - from === 1) return `message ${from}`
  return `messages ${from}–${to - 1}`
}

export const kinds: { key: keyof import('./api').Kinds; name: string }[] = [
  { key: 'unseen', name: 'unseen' },
  { key: 'system', name: 'system' },
  { key: 'tools', name: 'tools' },
  { key: 'summaries', name: 'summaries' },
  { key: 'user', name: 'user' },
  { key: 'assistant', name: 'assistant' },
  { key: 'tool_results', name: 'tool results' },
  { key: 'thinking', name: 'thinking' },
  { key: 'attachments', name: 'attachments' },
]
