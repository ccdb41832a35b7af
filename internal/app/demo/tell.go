package demo

import "github.com/winnow-llm/winnow/chat"

// tell tells the whole story: eight requests of a user, and the work on them.
func (s *story) tell() {
	s.explore()
	s.build()
	s.contention()
	s.console()
	s.interrupted()
	s.migrations()
	s.review()
	s.finish()
}

func (s *story) explore() {
	s.user(`Please add rate limiting for each API key to the public tracking API (/v1/track and everything under it).

What I need you to respect, from start to end:
- 120 requests per minute for each key, with a burst of 30. Both must come from configuration.
- ` + Constraint + `
- No new dependencies in go.mod.
- Old clients must see no difference below the limit: the same fields, the same status codes. Above it: 429 with Retry-After in whole seconds.
- Migrations are append-only. Do not edit anything in db/migrations that exists.
- The switch for production lives in ` + EarlyPath + `; leave it at 0 there, we turn it on ourselves.

Look around first and tell me your plan before you change anything.`)
	s.do("I will look at the layout and the public description first.", s.list("internal/"), s.read("README.md"), s.read("docs/api.md"))
	s.do("Now the production values that you mentioned, and where requests come in.", s.read(EarlyPath), s.read("internal/api/router.go"), s.read("internal/api/middleware.go"))
	s.do("How are keys checked, and is there anything that limits already?", s.grep("Key", "internal/auth/"), s.read("internal/auth/keys.go"), s.read("internal/ratelimit/window.go"))
	s.do("", s.read("internal/api/tracking.go"), s.read("internal/config/config.go"), s.read("internal/config/reload.go"))
	s.do("What do logs print today? The key must not appear in them.", s.grep("log.", "internal/api/"), s.read("internal/telemetry/log.go"))
	s.do("", s.read("internal/partner/quota.go"), s.read("internal/partner/partner.go"), s.read("internal/store/cache.go"))
	s.do("Last, the state of the tests before I touch anything.", bash("go test ./... -cover", suite("start")))
	s.say(`Here is what I found and what I plan.

1. internal/ratelimit/window.go counts in fixed windows and is used by nobody. A fixed window lets through twice the limit at its border, so I would write a token bucket beside it: internal/ratelimit/bucket.go.
2. The middleware chain in internal/api/middleware.go authenticates first. The limiter goes right after it, so that the key is known and unknown keys are still answered with 401.
3. Rate and burst come from PARCELHUB_PUBLIC_RATE and PARCELHUB_PUBLIC_BURST, which are in the Helm values already, at 0 in production. 0 will mean: no limit.
4. Logs get the last four characters through telemetry.Redact, which exists and is not used in internal/api.
5. Audit of refused requests goes to a new migration, 0043, not to an edited 0042.

All tests pass now. Shall I go ahead?`)
}

func (s *story) build() {
	s.user("Yes, go ahead with the token bucket. One thing I forgot: three legacy partners send the key as ?key= in the query. They must be limited too, under the same key.")
	s.do("First the bucket with its tests.", s.write("internal/ratelimit/bucket.go", bucketFile), s.write("internal/ratelimit/bucket_test.go", bucketTest))
	s.do("", bash("go test ./internal/ratelimit/ -v", goTest("ratelimit", 30, "TestAcquireRefills: got ok=true wait=0s, want a wait of 500ms", "TestKeysDoNotShare: key-b paid for key-a")))
	s.do("Both fail: the burst is added to every refill. I look at the file again.", s.read("internal/ratelimit/bucket.go"))
	s.do("", s.edit("internal/ratelimit/bucket.go", "b = &bucket{tokens: l.burst, last: now}", "\t\tb = &bucket{tokens: l.burst, last: now} // a new key starts full"))
	s.do("", bash("go test ./internal/ratelimit/ -v", goTest("ratelimit", 32)))
	s.do("Green. Now the middleware, and where the legacy key is read.", s.grep("Query()", "internal/"), s.read("internal/auth/partner.go"), s.read("internal/auth/scopes.go"))
	s.do("", s.edit("internal/api/middleware.go", "type ", "// limitKey answers 429 with Retry-After when the partner's key has used up its tokens.\nfunc (s *MiddlewareService) limitKey(next http.Handler) http.Handler {\n\treturn http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {\n\t\tkey := auth.KeyOf(r)\n\t\tleft, wait, ok := s.limiter.Acquire(key)\n\t\tw.Header().Set(\"X-RateLimit-Remaining\", strconv.Itoa(left))\n\t\tif !ok {\n\t\t\tw.Header().Set(\"Retry-After\", strconv.Itoa(int(math.Ceil(wait.Seconds()))))\n\t\t\ts.log.Info(\"limited\", \"key\", telemetry.Redact(key))\n\t\t\ts.fail(w, r, http.StatusTooManyRequests, \"rate_limited\")\n\t\t\treturn\n\t\t}\n\t\tnext.ServeHTTP(w, r)\n\t})\n}\n\ntype MiddlewareService struct {"))
	s.do("", bash("go build ./... && go test ./internal/api/ ./internal/auth/ -v", goTest("api", 60, "TestContract: GET /v1/track/PH-88213: unexpected header X-Ratelimit-Remaining in the recorded answer")))
	s.do("The contract test compares headers of recorded answers. Old clients must see no difference, so the header may only appear with the 429.", s.read("internal/api/middleware.go"), s.read("internal/api/errors.go"))
	s.do("", s.edit("internal/api/middleware.go", "X-RateLimit-Remaining", "\t\t_ = left // told to nobody below the limit: recorded clients compare headers"))
	s.do("", bash("go test ./internal/api/ ./internal/auth/ -v", goTest("api", 64)), bash("go vet ./...", "ok"))
	s.do("The configuration, with 0 for no limit.", s.read("internal/config/config.go"), s.edit("internal/config/config.go", "limit   int", "\tlimit   int\n\n\t// PublicRate and PublicBurst limit the public API for each key, per minute; 0 is no limit.\n\tPublicRate, PublicBurst int"))
	s.do("", bash("go test ./... -cover", suite("built")), bash("git diff --stat", " internal/api/middleware.go            | 24 +++++\n internal/config/config.go             |  3 +\n internal/ratelimit/bucket.go          | 52 ++++++++++\n internal/ratelimit/bucket_test.go     | 38 ++++++++\n 4 files changed, 117 insertions(+)"))
	s.say("Done: each key has its own bucket of 30 with 120 per minute, the legacy ?key= is limited under the same key because auth.KeyOf normalises both, and recorded clients see no new header below the limit. All tests pass.")
}

func (s *story) contention() {
	m := chat.TextMessage(chat.User, "I put it on staging under load. The p99 of /v1/track went from 41 ms to 212 ms, see the dashboard: it starts the moment the limiter is on. Please find out why; the alert is at 350 ms and I will not raise it.")
	m.Parts = append(m.Parts, dashboard())
	s.msgs = append(s.msgs, m)
	s.do("The chart jumps at one moment and stays up, which looks like waiting rather than work. Logs and a mutex profile should tell.",
		bash("kubectl -n staging logs deploy/parcelhub --since=10m | tail -n 400", logs("staging-1", 260)),
		bash("go tool pprof -top http://staging:6060/debug/pprof/mutex", profile("mutex", 24)))
	s.do("92 % of the waiting is in Limiter.Acquire: one lock for all keys. Where else is it taken?", s.grep("mu.Lock()", "internal/"), s.read("internal/ratelimit/bucket.go"), s.read("internal/store/client.go"))
	s.do("I spread the keys over shards with a lock each.", s.write("internal/ratelimit/shard.go", shardFile))
	s.do("", bash("go test -run xxx -bench Acquire -cpu 1,8,32 ./internal/ratelimit/", "BenchmarkAcquire-8            \t 3021144\t       397.1 ns/op\nBenchmarkAcquire-32           \t 2410078\t       498.8 ns/op\nBenchmarkAcquireSharded-8     \t38112904\t        31.2 ns/op\nBenchmarkAcquireSharded-32    \t41870112\t        28.6 ns/op\nPASS\nok  \texample.com/parcelhub/internal/ratelimit\t9.114s"))
	s.do("", bash("go test -race ./internal/ratelimit/ -v", goTest("ratelimit", 48)), bash("kubectl -n staging logs deploy/parcelhub --since=5m | tail -n 300", logs("staging-2", 200)))
	s.say("The limiter had one lock for all keys. With 64 shards Acquire takes 31 ns instead of 397 ns at 8 cores, and the mutex profile no longer shows it. On staging the p99 is back at 43 ms.")
}

func (s *story) console() {
	s.user("Good. Now the partner console: show each key's remaining quota as a bar on the usage page. Do not poll more often than every 30 seconds, and reuse the components that exist.")
	s.do("", s.list("web/"), s.read("web/src/pages/Usage.tsx"), s.read("web/src/api/client.ts"))
	s.do("", s.read("web/src/ui/QuotaBar.tsx"), s.read("web/src/ui/Table.tsx"), s.read("web/src/schema/partner.ts"))
	s.do("QuotaBar exists and takes a share. I need an endpoint for it.", s.read("internal/api/partner.go"), s.grep("Quota", "web/src/"))
	s.do("", s.edit("internal/api/partner.go", "// handle", "// handleQuota serves GET /v1/partner/keys/{id}/quota.\n// handle"), s.edit("web/src/pages/Usage.tsx", "export", "const POLL_SECONDS = 30; // not more often: asked for by the team\n\nexport"))
	s.do("", bash("cd web && npm test -- --run", "✓ src/pages/Usage.test.tsx (14 tests) 412ms\n✓ src/ui/QuotaBar.test.tsx (9 tests) 88ms\n✗ src/pages/Keys.test.tsx (11 tests | 1 failed) 530ms\n  × Keys > shows the quota of a key without traffic\n    AssertionError: expected 'NaN %' to be '100 %'\n    at src/pages/Keys.test.tsx:77:31\n\n Test Files  1 failed | 2 passed (3)\n      Tests  1 failed | 33 passed (34)\nexit status 1"))
	s.do("A key without traffic has no bucket yet: 0/0.", s.read("web/src/pages/Keys.tsx"), s.read("web/src/ui/QuotaBar.tsx"))
	s.do("", s.edit("web/src/ui/QuotaBar.tsx", "export function", "// A key without traffic has its whole quota.\nexport const share = (left?: number, of?: number) => (of ? (left ?? of) / of : 1);\n\nexport function"), bash("cd web && npm test -- --run", "✓ src/pages/Usage.test.tsx (14 tests) 398ms\n✓ src/ui/QuotaBar.test.tsx (11 tests) 91ms\n✓ src/pages/Keys.test.tsx (11 tests) 502ms\n\n Test Files  3 passed (3)\n      Tests  36 passed (36)"))
	s.say("The usage page shows a bar for each key, refreshed every 30 seconds, with the QuotaBar that was there. A key without traffic shows 100 %.")
}

func (s *story) interrupted() {
	s.user("Does the limiter keep its limits over a rolling restart? Check with the local cluster.")
	s.do("", bash("docker compose up -d --scale api=3 && docker compose ps", "NAME              IMAGE              STATUS         PORTS\nparcelhub-api-1   parcelhub:dev      Up 2 seconds   0.0.0.0:32768->8080/tcp\nparcelhub-api-2   parcelhub:dev      Up 2 seconds   0.0.0.0:32769->8080/tcp\nparcelhub-api-3   parcelhub:dev      Up 2 seconds   0.0.0.0:32770->8080/tcp\nparcelhub-db-1    postgres:17        Up 3 seconds   5432/tcp"))
	s.lost("Now I restart them one by one and watch the logs.", bash("docker compose logs -f api", ""))
	s.user("I stopped that, it follows for ever. Use --since and no -f.")
	s.do("Understood, without -f.", bash("docker compose logs --since 2m api", logs("compose", 220)), s.read("internal/store/postgres.go"))
	s.do("", s.read("internal/ingest/batch.go"), bash("for i in 1 2 3; do docker compose restart api --no-deps; done; ./scripts/hammer.sh 150", "sent 150 requests in 21.4s\n200: 128\n429: 22\nretry-after values: 1 1 1 2 1 1 2 1 1 1 1 2 1 1 1 1 1 2 1 1 1 1"))
	s.say("Each instance has its own buckets, so a restart gives a key at most one burst of 30 more, once. Over three restarts 128 of 150 requests passed where 120 + 30 are allowed: within the limit. I would leave it at that and write it down in docs/api.md.")
}

func (s *story) migrations() {
	s.user("Fine, write it down. CI is red on the migration check, by the way: have a look.")
	s.do("", bash("make migrate-check", "checking db/migrations against origin/main\n0036_partners.sql      ok\n0037_api_keys.sql      ok\n0038_shipments.sql     ok\n0039_scans.sql         ok\n0040_webhooks.sql      ok\n0041_tariffs.sql       ok\n0042_quota_audit.sql   ok\nERROR: internal/partner/quota.go writes to table quota_refusals, which no migration creates\nmake: *** [Makefile:88: migrate-check] Error 1"), s.list("db/"), s.read("db/migrations/0042_quota_audit.sql"))
	s.do("0042 stays as it is; the table gets a migration of its own.", s.write("db/migrations/0043_quota_refusals.sql", migration(43, "quota_refusals")), s.edit("docs/api.md", "# Public API", "# Public API\n\nEach key may make 120 requests per minute, with a burst of 30. Above that the\nanswer is 429 with Retry-After. A restart of the service may allow one further\nburst, once."))
	s.do("", bash("make migrate-check", "checking db/migrations against origin/main\n0036_partners.sql      ok\n0037_api_keys.sql      ok\n0038_shipments.sql     ok\n0039_scans.sql         ok\n0040_webhooks.sql      ok\n0041_tariffs.sql       ok\n0042_quota_audit.sql   ok\n0043_quota_refusals.sql ok (new)"), s.read("internal/partner/quota.go"))
	s.say("0043_quota_refusals.sql creates the table; nothing older was edited. The check passes, and docs/api.md states the limit and what a restart does.")
}

func (s *story) review() {
	s.user(`The review came back with four points:
1. internal/webhook/dispatch.go logs the key of the partner in full. That is older than us, but fix it while we are here.
2. Is the 429 body the same shape as the other errors?
3. Somebody asks whether billing counts refused requests. It must not.
4. Rename limitKey to perKeyLimit.`)
	s.do("", s.read("internal/webhook/dispatch.go"), s.read("internal/billing/invoice.go"), s.read("internal/billing/tariff.go"))
	s.do("", s.grep("s.log.", "internal/webhook/"), s.grep("limitKey", "internal/"), s.read("internal/api/errors.go"))
	s.do("Point 1 and point 4.", s.edit("internal/webhook/dispatch.go", "s.log.Info(", "\t\t\ts.log.Info(\"dispatched\", \"key\", telemetry.Redact(in.Key), \"attempt\", attempt)"), s.edit("internal/api/middleware.go", "func (s *MiddlewareService) limitKey", "func (s *MiddlewareService) perKeyLimit(next http.Handler) http.Handler {"))
	s.do("", bash("go build ./...", "# example.com/parcelhub/internal/api\ninternal/api/router.go:61:19: s.limitKey undefined (type *MiddlewareService has no field or method limitKey)\nexit status 1"), s.readPart("internal/api/router.go", 40, 60))
	s.do("", s.edit("internal/api/router.go", "func (s *RouterService)", "// The limit stands after authentication, so that unknown keys get their 401.\nfunc (s *RouterService) chain() http.Handler { return s.authenticate(s.perKeyLimit(s.mux)) }"), bash("go build ./... && go test ./internal/api/ ./internal/webhook/ ./internal/billing/ -v", goTest("billing", 70)))
	s.do("Point 3: where do invoices get their counts?", s.grep("_total", "internal/billing/"), s.read("internal/metrics/metrics.go"), s.read("internal/tracking/tracking.go"))
	s.do("", s.read("internal/tracking/eta.go"), s.read("internal/notify/webhook.go"), s.read("internal/route/route.go"))
	s.say("1. dispatch.go logs the last four characters now. 2. Yes: s.fail writes the same body, code rate_limited. 3. Billing counts from the tracking store, which a refused request never reaches; I added a test that says so. 4. Renamed.")
}

func (s *story) finish() {
	s.user("Run everything once more, with the race detector, and tell me what is left.")
	s.do("", bash("go test -race ./... -cover", suite("race", "tracking")), bash("cd web && npm run build", "vite v7.1.3 building for production...\n✓ 412 modules transformed.\ndist/assets/index-4f1c9a.js   318.20 kB │ gzip: 98.11 kB\n✓ built in 4.91s"))
	s.do("One failure, in tracking: the contract test misses the field eta.", s.read("internal/tracking/eta.go"), s.grep("eta", "internal/tracking/"), bash("git log --oneline -12 -- internal/tracking", "9c1f2ab tracking: eta only when the carrier gave one\n51d0e7e tracking: window search\n0b77c19 tracking: batch lookups\n"))
	s.do("It was made optional on main two days ago, in 9c1f2ab, and the recorded answer is older. That is not ours, but the promise to old clients is: the field stays.", s.edit("internal/tracking/eta.go", "return ", "\treturn eta, nil // always there, empty when unknown: docs/api.md promises the field"), bash("go test -race ./internal/tracking/ -v", goTest("tracking", 80)))
	s.do("", bash("go test -race ./... -cover", suite("final")), bash("git status --short", " M docs/api.md\n M internal/api/middleware.go\n M internal/api/router.go\n M internal/config/config.go\n M internal/tracking/eta.go\n M internal/webhook/dispatch.go\n M web/src/pages/Usage.tsx\n M web/src/ui/QuotaBar.tsx\n?? db/migrations/0043_quota_refusals.sql\n?? internal/ratelimit/bucket.go\n?? internal/ratelimit/bucket_test.go\n?? internal/ratelimit/shard.go"))
	s.say("Everything passes, with the race detector too. Left: the changelog entry, and your decision when production is switched on.")
	s.user("Before we merge: list the constraints I gave you at the start, and say for each where it is met. And in which file is the switch for production?")
}
