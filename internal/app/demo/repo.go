package demo

import (
	"fmt"
	"strings"
)

// newRepo returns the files of the repository before the story begins.
func newRepo() map[string]string {
	repo := map[string]string{
		"README.md":                       readme,
		"docs/api.md":                     apiDoc(),
		EarlyPath:                         productionValues,
		"deploy/helm/values.staging.yaml": strings.NewReplacer("eu-west-1", "eu-central-1", "replicas: 12", "replicas: 2").Replace(productionValues),
		"go.mod":                          "module example.com/parcelhub\n\ngo 1.26\n\nrequire github.com/jackc/pgx/v5 v5.11.0\n",
	}
	for i, name := range []string{"partners", "api_keys", "shipments", "scans", "webhooks", "tariffs", "quota_audit"} {
		repo[fmt.Sprintf("db/migrations/%04d_%s.sql", 36+i, name)] = migration(36+i, name)
	}
	for _, path := range strings.Fields(`
		cmd/parcelhub/main.go cmd/parcelctl/main.go
		internal/api/router.go internal/api/middleware.go internal/api/tracking.go internal/api/partner.go internal/api/errors.go
		internal/auth/keys.go internal/auth/partner.go internal/auth/scopes.go
		internal/billing/invoice.go internal/billing/tariff.go
		internal/carrier/client.go internal/carrier/retry.go
		internal/config/config.go internal/config/reload.go
		internal/depot/depot.go internal/ingest/scan.go internal/ingest/batch.go
		internal/label/label.go internal/manifest/manifest.go
		internal/metrics/metrics.go internal/notify/webhook.go
		internal/partner/partner.go internal/partner/quota.go
		internal/ratelimit/window.go internal/route/route.go
		internal/store/postgres.go internal/store/cache.go internal/store/client.go
		internal/telemetry/log.go internal/tracking/tracking.go internal/tracking/eta.go internal/webhook/dispatch.go`) {
		repo[path] = goFile(path, 7+seeded(path).IntN(8))
	}
	for _, path := range strings.Fields(`
		web/src/api/client.ts web/src/pages/Partner.tsx web/src/pages/Keys.tsx web/src/pages/Usage.tsx
		web/src/ui/QuotaBar.tsx web/src/ui/Table.tsx web/src/schema/partner.ts`) {
		repo[path] = tsFile(path, 8+seeded(path).IntN(8))
	}
	return repo
}

const readme = `# parcelhub

Tracks parcels of many carriers behind one API.

    make dev        start the service with a local database
    make test       all tests
    make migrate    apply db/migrations in order; a migration that has run is never edited

The public API is described in docs/api.md. Partners rely on it: a field that was
there stays there.
`

const productionValues = `# Production values of the chart. Changes here need a second pair of eyes.
image:
  repository: registry.example.com/parcelhub
  tag: "4.18.2"
replicas: 12
region: eu-west-1
resources:
  requests: {cpu: "2", memory: 3Gi}
  limits: {cpu: "4", memory: 4Gi}
env:
  PARCELHUB_DB_POOL: "48"
  PARCELHUB_CACHE_TTL: 45s
  PARCELHUB_TRACK_TIMEOUT: 2500ms
  PARCELHUB_PUBLIC_RATE: "0"          # 0: no limit yet
  PARCELHUB_PUBLIC_BURST: "0"
autoscaling:
  min: 12
  max: 40
  targetCPU: 65
podDisruptionBudget:
  minAvailable: 9
alerts:
  p99TrackMillis: 350
  errorRate: 0.005
`

// apiDoc is the description of the public API.
func apiDoc() string {
	r := seeded("docs/api.md")
	var b strings.Builder
	b.WriteString("# Public API\n\nEvery request carries `X-Parcelhub-Key`. Answers are JSON.\n\n")
	for i, n := range nouns {
		fmt.Fprintf(&b, "## GET /v1/%ss/{id}\n\nReturns one %s. Scope `%s:read`. Since version 1.%d.\n\n| field | type | meaning |\n|---|---|---|\n", n, n, n, i)
		for range 5 + r.IntN(5) {
			f := snake(pick(r, fields))
			fmt.Fprintf(&b, "| `%s` | string | %s of the %s, as the carrier reports it |\n", f, strings.ReplaceAll(f, "_", " "), n)
		}
		fmt.Fprintf(&b, "\nErrors: 400 `invalid_%s_id`, 404 `%s_not_found`, 503 `carrier_unavailable`.\n\n", n, n)
	}
	return b.String()
}

func migration(number int, name string) string {
	r := seeded(name)
	var b strings.Builder
	fmt.Fprintf(&b, "-- %04d %s\nBEGIN;\nCREATE TABLE %s (\n    id          uuid PRIMARY KEY,\n", number, name, name)
	for range 6 + r.IntN(5) {
		fmt.Fprintf(&b, "    %-11s %s,\n", snake(pick(r, fields)), []string{"text NOT NULL", "bigint NOT NULL DEFAULT 0", "timestamptz", "jsonb"}[r.IntN(4)])
	}
	fmt.Fprintf(&b, "    created_at  timestamptz NOT NULL DEFAULT now()\n);\nCREATE INDEX %s_created_idx ON %s (created_at);\nCOMMIT;\n", name, name)
	return b.String()
}

// The files that the agent writes in the story.
const bucketFile = `// Package ratelimit limits how often a partner's key may call the public API.
package ratelimit

import (
	"sync"
	"time"
)

// Limiter is a token bucket for each key. It is safe for concurrent use.
type Limiter struct {
	mu      sync.Mutex
	buckets map[string]*bucket
	rate    float64 // tokens per second
	burst   float64
	now     func() time.Time
}

type bucket struct {
	tokens float64
	last   time.Time
}

// New returns a limiter of perMinute requests with a burst on top.
func New(perMinute, burst int) *Limiter {
	return &Limiter{
		buckets: make(map[string]*bucket),
		rate:    float64(perMinute) / 60,
		burst:   float64(burst),
		now:     time.Now,
	}
}

// Acquire takes one token. It returns what is left and, when there is none,
// how long to wait.
func (l *Limiter) Acquire(key string) (remaining int, wait time.Duration, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.now()
	b := l.buckets[key]
	if b == nil {
		b = &bucket{tokens: l.burst, last: now}
		l.buckets[key] = b
	}
	b.tokens += now.Sub(b.last).Seconds() * l.rate
	if b.tokens > l.burst {
		b.tokens = l.burst
	}
	b.last = now
	if b.tokens < 1 {
		return 0, time.Duration((1 - b.tokens) / l.rate * float64(time.Second)), false
	}
	b.tokens--
	return int(b.tokens), 0, true
}
`

const bucketTest = `package ratelimit

import (
	"testing"
	"time"
)

func TestAcquireRefills(t *testing.T) {
	now := time.Unix(1_760_000_000, 0)
	l := New(120, 5)
	l.now = func() time.Time { return now }
	for i := range 5 {
		if _, _, ok := l.Acquire("key-a"); !ok {
			t.Fatalf("request %d was refused", i)
		}
	}
	if _, wait, ok := l.Acquire("key-a"); ok || wait != 500*time.Millisecond {
		t.Fatalf("got ok=%v wait=%v, want a wait of 500ms", ok, wait)
	}
	now = now.Add(time.Second)
	if left, _, ok := l.Acquire("key-a"); !ok || left != 1 {
		t.Fatalf("got ok=%v left=%d after a second, want 1", ok, left)
	}
}

func TestKeysDoNotShare(t *testing.T) {
	l := New(120, 1)
	l.Acquire("key-a")
	if _, _, ok := l.Acquire("key-b"); !ok {
		t.Fatal("key-b paid for key-a")
	}
}
`

const shardFile = `package ratelimit

import "hash/maphash"

// shards is how many locks the keys are spread over. 64 took the wait out of
// the mutex profile; 256 made no further difference.
const shards = 64

// Sharded spreads keys over limiters, so that busy partners do not wait for
// each other.
type Sharded struct {
	seed  maphash.Seed
	parts [shards]*Limiter
}

// NewSharded returns a sharded limiter.
func NewSharded(perMinute, burst int) *Sharded {
	s := &Sharded{seed: maphash.MakeSeed()}
	for i := range s.parts {
		s.parts[i] = New(perMinute, burst)
	}
	return s
}

func (s *Sharded) of(key string) *Limiter {
	return s.parts[maphash.String(s.seed, key)%shards]
}
`
