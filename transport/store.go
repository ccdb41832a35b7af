package transport

import "github.com/winnow-llm/winnow/internal/planstore"

// Store keeps plans where the next request can find them: in memory ([NewMemory]),
// in a file (package transport/planstore/sqlite) or in a database that several
// gateways share (package transport/planstore/postgres). What a transport asks of
// it is not for others, who open a store, hand it over in [Options.Store] and
// call Close in the end.
//
// It holds no message of any conversation beyond the text of the edits, unless
// [Options.KeepOriginals] asks for more, and one tenant never sees what belongs
// to another.
type Store = planstore.Store

// Bounds limit what a store keeps: Age is how long, Plans how many plans, Size how
// many bytes of them, and Originals how many bytes of conversations. The zero value
// takes the store's defaults.
type Bounds = planstore.Bounds

// Tenant is who a plan belongs to: a hash, never a credential itself.
type Tenant = planstore.Tenant

// NewMemory returns an empty store that ends with the process: at most 4,096 plans
// and 256 MB of them, unless the bounds say otherwise.
func NewMemory(b Bounds) Store { return planstore.NewMemory(b) }
