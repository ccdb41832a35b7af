package demo

import (
	"hash/fnv"
	"math/rand/v2"
	"strings"
)

// Words of the trade, from which names are made.
var (
	nouns = strings.Fields(`parcel carrier route depot manifest label webhook tariff invoice shipment
		scan pickup locker courier zone address receipt batch hub lane`)
	fields = strings.Fields(`status weight region attempts priority origin destination updatedAt createdAt
		expiresAt version checksum partnerID reference currency amount retries window owner sequence`)
	verbs = strings.Fields(`Load Save List Assign Reprice Expire Merge Reconcile Dispatch Lookup
		Verify Split Archive Restore Publish Enqueue Resolve Refresh Claim Release`)
	adjectives = strings.Fields(`stale pending expired partial duplicate missing orphaned late open final`)
)

// seeded returns a source of randomness that depends on a name alone.
func seeded(name string) *rand.Rand {
	h := fnv.New64a()
	h.Write([]byte(name))
	return rand.New(rand.NewPCG(h.Sum64(), 0x77696e6e6f77))
}

func pick(r *rand.Rand, words []string) string { return words[r.IntN(len(words))] }

func title(s string) string {
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}

// base returns the name of a file without folder and ending.
func base(path string) string {
	name := path[strings.LastIndexByte(path, '/')+1:]
	if dot := strings.IndexByte(name, '.'); dot > 0 {
		name = name[:dot]
	}
	return name
}

// folder returns the name of the folder that a file is in.
func folder(path string) string {
	dir := path[:max(strings.LastIndexByte(path, '/'), 0)]
	return dir[strings.LastIndexByte(dir, '/')+1:]
}
