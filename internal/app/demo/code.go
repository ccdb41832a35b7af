package demo

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// goFunctions are bodies of methods. {T} is the type, {N} and {n} a noun, {V}
// a verb, {F} and {f} a field, {A} an adjective, {1} a small and {2} a larger
// number.
var goFunctions = []string{
	`// {V}{N} returns the {n} with that id. A {A} {n} is reported as missing.
func (s *{T}) {V}{N}(ctx context.Context, id string) (*{N}, error) {
	row := s.db.QueryRowContext(ctx, query{V}{N}, id)
	var out {N}
	if err := row.Scan(&out.ID, &out.{F}, &out.UpdatedAt); err != nil {
		if errors.Is(err, sql.ErrNoRows) {
			return nil, fmt.Errorf("{n} %s: %w", id, ErrNotFound)
		}
		return nil, fmt.Errorf("{V} {n} %s: %w", id, err)
	}
	if out.{F} == {N}{F}{A2} {
		s.metrics.Inc("{n}_{f}_{A}_total")
		return nil, fmt.Errorf("{n} %s is {A}: %w", id, ErrNotFound)
	}
	return &out, nil
}
`,
	`// {V}{N}s walks over all {A} {n}s in batches of {2}, oldest first.
func (s *{T}) {V}{N}s(ctx context.Context, since time.Time, f func(*{N}) error) error {
	cursor := ""
	for page := 0; ; page++ {
		items, next, err := s.page(ctx, cursor, {2})
		if err != nil {
			return fmt.Errorf("page %d: %w", page, err)
		}
		for i := range items {
			if items[i].UpdatedAt.Before(since) {
				continue
			}
			if err := f(&items[i]); err != nil {
				return fmt.Errorf("{n} %s: %w", items[i].ID, err)
			}
		}
		if next == "" {
			return nil
		}
		cursor = next
	}
}
`,
	`// {v}{N} applies the {f} rules. It runs at most {1} times before it gives up.
func (s *{T}) {v}{N}(ctx context.Context, in *{N}) error {
	backoff := {2} * time.Millisecond
	for attempt := 1; attempt <= {1}; attempt++ {
		err := s.client.Send(ctx, in.{F}, in.Payload())
		switch {
		case err == nil:
			s.log.Info("{n} {v}d", "id", in.ID, "attempt", attempt)
			return nil
		case errors.Is(err, context.Canceled):
			return err
		case attempt == {1}:
			return fmt.Errorf("{v} {n} %s after %d attempts: %w", in.ID, attempt, err)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(backoff):
			backoff *= 2
		}
	}
	return nil
}
`,
	`// {V}{F} locks the {n} and moves its {f} on. Two callers never see the same {f}.
func (s *{T}) {V}{F}(ctx context.Context, id string, to {F}) (err error) {
	tx, err := s.db.BeginTx(ctx, &sql.TxOptions{Isolation: sql.LevelSerializable})
	if err != nil {
		return fmt.Errorf("begin: %w", err)
	}
	defer func() {
		if err != nil {
			_ = tx.Rollback()
		}
	}()
	var from {F}
	if err := tx.QueryRowContext(ctx, "SELECT {f} FROM {n}s WHERE id = $1 FOR UPDATE", id).Scan(&from); err != nil {
		return fmt.Errorf("lock {n} %s: %w", id, err)
	}
	if !from.CanBecome(to) {
		return &TransitionError{ID: id, From: string(from), To: string(to)}
	}
	if _, err := tx.ExecContext(ctx, "UPDATE {n}s SET {f} = $2, updated_at = now() WHERE id = $1", id, to); err != nil {
		return fmt.Errorf("update {n} %s: %w", id, err)
	}
	return tx.Commit()
}
`,
	`// handle{V}{N} serves POST /v1/{n}s/{id}/{v}.
func (s *{T}) handle{V}{N}(w http.ResponseWriter, r *http.Request) {
	id := r.PathValue("id")
	if !validID(id) {
		s.fail(w, r, http.StatusBadRequest, "invalid_{n}_id")
		return
	}
	var in {V}{N}Request
	if err := json.NewDecoder(io.LimitReader(r.Body, {2}<<10)).Decode(&in); err != nil {
		s.fail(w, r, http.StatusBadRequest, "invalid_body")
		return
	}
	out, err := s.{n}s.{V}(r.Context(), id, in.{F})
	switch {
	case errors.Is(err, ErrNotFound):
		s.fail(w, r, http.StatusNotFound, "{n}_not_found")
	case err != nil:
		s.log.Error("{v} {n}", "id", id, "err", err)
		s.fail(w, r, http.StatusInternalServerError, "internal")
	default:
		s.write(w, r, http.StatusOK, out)
	}
}
`,
	`// {v}{F}Window returns the part of {n}s between two moments, by binary search.
func {v}{F}Window(items []{N}, from, to time.Time) []{N} {
	lo := sort.Search(len(items), func(i int) bool { return !items[i].CreatedAt.Before(from) })
	hi := sort.Search(len(items), func(i int) bool { return items[i].CreatedAt.After(to) })
	if lo >= hi {
		return nil
	}
	out := make([]{N}, 0, min(hi-lo, {2}))
	for _, it := range items[lo:hi] {
		if it.{F} != "" && len(out) < {2} {
			out = append(out, it)
		}
	}
	return out
}
`,
	`// {N}{F}Key is the cache key of a {n}. It changes with the schema version ({1}).
func {N}{F}Key(partner, id string) string {
	h := sha256.New()
	h.Write([]byte("v{1}"))
	h.Write([]byte{0})
	h.Write([]byte(partner))
	h.Write([]byte{0})
	h.Write([]byte(id))
	return "{n}:{f}:" + hex.EncodeToString(h.Sum(nil)[:12])
}
`,
	`// sweep{A2}{N}s removes {A} {n}s every {1} minutes until ctx is done.
func (s *{T}) sweep{A2}{N}s(ctx context.Context) {
	t := time.NewTicker({1} * time.Minute)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-t.C:
			n, err := s.delete{A2}(ctx, now.Add(-{2}*time.Hour))
			if err != nil {
				s.log.Warn("sweep {n}s", "err", err)
				continue
			}
			s.metrics.Add("{n}_swept_total", n)
		}
	}
}
`,
}

const goHead = `package %s

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sort"
	"time"

	"example.com/parcelhub/internal/store"
	"example.com/parcelhub/internal/telemetry"
)

// %s keeps the %ss of one partner. It is safe for concurrent use.
type %s struct {
	db      *sql.DB
	client  store.Client
	log     telemetry.Logger
	metrics telemetry.Metrics
	%ss   %sStore
	limit   int
}

// New%s returns a %s that holds at most limit %ss in memory.
func New%s(db *sql.DB, log telemetry.Logger, limit int) *%s {
	if limit <= 0 {
		limit = %d
	}
	return &%s{db: db, log: log, limit: limit}
}

`

// goFile writes a Go file of about that many functions.
func goFile(path string, functions int) string {
	r := seeded(path)
	noun := base(path)
	if strings.ContainsAny(noun, "_") || len(noun) > 12 {
		noun = pick(r, nouns)
	}
	n, t := title(noun), title(noun)+"Service"
	var b strings.Builder
	fmt.Fprintf(&b, goHead, folder(path), t, noun, t, noun, n, t, t, noun, t, t, 100*(1+r.IntN(90)), t)
	for i := range functions {
		b.WriteString(fill(r, goFunctions[(i+r.IntN(2))%len(goFunctions)], t, pickNoun(r, noun)))
		b.WriteByte('\n')
	}
	return b.String()
}

// pickNoun mostly stays with the file's own subject.
func pickNoun(r *rand.Rand, own string) string {
	if r.IntN(3) > 0 {
		return own
	}
	return pick(r, nouns)
}

// fill puts names into a template.
func fill(r *rand.Rand, template, typ, noun string) string {
	verb, field, adjective := pick(r, verbs), pick(r, fields), pick(r, adjectives)
	return strings.NewReplacer(
		"{T}", typ, "{N}", title(noun), "{n}", noun,
		"{V}", verb, "{v}", strings.ToLower(verb[:1])+verb[1:],
		"{F}", title(field), "{f}", snake(field), "{A}", adjective, "{A2}", title(adjective),
		"{1}", fmt.Sprint(2+r.IntN(9)), "{2}", fmt.Sprint(10*(1+r.IntN(50))),
	).Replace(template)
}

func snake(s string) string {
	var b strings.Builder
	for i, c := range s {
		if c >= 'A' && c <= 'Z' {
			if i > 0 && s[i-1] >= 'a' {
				b.WriteByte('_')
			}
			c += 'a' - 'A'
		}
		b.WriteRune(c)
	}
	return b.String()
}

var tsFunctions = []string{
	`export async function {v}{N}(id: string, signal?: AbortSignal): Promise<{N}> {
  const res = await fetch(` + "`/api/v1/{n}s/${encodeURIComponent(id)}/{v}`" + `, {
    method: "POST",
    headers: { "content-type": "application/json", "x-request-id": requestId() },
    signal,
  });
  if (res.status === 429) {
    throw new QuotaError(Number(res.headers.get("retry-after") ?? "{1}"));
  }
  if (!res.ok) {
    throw new ApiError(res.status, await res.text());
  }
  return {n}Schema.parse(await res.json());
}
`,
	`export function {N}{F}Cell({ {n}, dense }: { {n}: {N}; dense?: boolean }) {
  const label = useMemo(() => format{F}({n}.{f}), [{n}.{f}]);
  if ({n}.{f} === undefined) {
    return <span className="muted">{t("{n}.{f}.{A}")}</span>;
  }
  return (
    <td className={dense ? "cell dense" : "cell"} title={label}>
      <Badge tone={{n}.{f} === "{A}" ? "warning" : "neutral"}>{label}</Badge>
    </td>
  );
}
`,
	`const {n}Reducer = (state: {N}State, action: {N}Action): {N}State => {
  switch (action.type) {
    case "{n}/{v}":
      return { ...state, loading: true, error: undefined };
    case "{n}/{v}/done":
      return { ...state, loading: false, items: action.items.slice(0, {2}) };
    case "{n}/{v}/failed":
      return { ...state, loading: false, error: action.message };
    default:
      return state;
  }
};
`,
	`export function use{N}{F}(partnerId: string) {
  const [value, setValue] = useState<{N}{F} | undefined>();
  useEffect(() => {
    const abort = new AbortController();
    const timer = setInterval(() => {
      {v}{N}(partnerId, abort.signal).then((x) => setValue(x.{f}), reportError);
    }, {2}_000);
    return () => {
      clearInterval(timer);
      abort.abort();
    };
  }, [partnerId]);
  return value;
}
`,
}

// tsFile writes a TypeScript file of about that many functions.
func tsFile(path string, functions int) string {
	r := seeded(path)
	noun := pick(r, nouns)
	var b strings.Builder
	fmt.Fprintf(&b, "import { useEffect, useMemo, useState } from \"react\";\nimport { ApiError, QuotaError, requestId } from \"../api/client\";\nimport { %sSchema, type %s } from \"../schema/%s\";\nimport { Badge } from \"../ui/Badge\";\nimport { t } from \"../i18n\";\n\n", noun, title(noun), noun)
	for i := range functions {
		b.WriteString(fill(r, tsFunctions[(i+r.IntN(2))%len(tsFunctions)], title(noun), pickNoun(r, noun)))
		b.WriteByte('\n')
	}
	return b.String()
}
