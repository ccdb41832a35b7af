package sqlite_test

import (
	"bytes"
	"context"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/planstore"
	"github.com/winnow-llm/winnow/internal/planstore/storetest"
	"github.com/winnow-llm/winnow/plan"
	"github.com/winnow-llm/winnow/transport/planstore/sqlite"
)

// TestDamaged holds that a file which cannot be used is refused and left byte
// for byte as it is.
func TestDamaged(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	whole := func(t *testing.T, path string) {
		t.Helper()
		s, err := sqlite.Open(path, planstore.Bounds{})
		if err != nil {
			t.Fatal(err)
		}
		for i := range 50 {
			p := &plan.Plan{Len: 3, Prefix: chat.Hash{byte(i)}, Edits: []plan.Edit{{Kind: plan.Drop, From: 0, To: 2, Part: -1, Text: strings.Repeat(fmt.Sprint(i), 3000)}}}
			if _, err := storetest.Put(ctx, s, planstore.Key{Tenant: "t"}, p); err != nil {
				t.Fatal(err)
			}
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	for name, make := range map[string]func(t *testing.T, path string){
		"a text": func(t *testing.T, path string) { write(t, path, bytes.Repeat([]byte("notes\n"), 1000)) },
		"damaged pages": func(t *testing.T, path string) {
			whole(t, path)
			data := read(t, path)
			for i := 4096; i < len(data); i++ {
				data[i] = 0xa5
			}
			write(t, path, data)
		},
		"cut off": func(t *testing.T, path string) {
			whole(t, path)
			write(t, path, read(t, path)[:20000])
		},
		"a database of another program": func(t *testing.T, path string) {
			db, err := sql.Open("sqlite", path)
			if err == nil {
				_, err = db.Exec("create table mine (a); insert into mine values (1)")
			}
			if err == nil {
				err = db.Close()
			}
			if err != nil {
				t.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "plans.db")
			make(t, path)
			before := read(t, path)
			s, err := sqlite.Open(path, planstore.Bounds{})
			if err == nil {
				_ = s.Close()
				t.Error("it was opened")
			} else if !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), "move the file away") {
				t.Errorf("the error does not say what to do: %v", err)
			}
			if !bytes.Equal(read(t, path), before) {
				t.Error("the file was changed")
			}
		})
	}
}

func read(t *testing.T, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func write(t *testing.T, path string, data []byte) {
	t.Helper()
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
}
