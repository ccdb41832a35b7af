package o200k

import (
	"encoding/base64"
	"encoding/json"
	"os"
	"strings"
	"testing"
)

func TestPK(t *testing.T) {
	d, _ := os.ReadFile("/tmp/pk.jsonl")
	n, bad := 0, 0
	for l := range strings.Lines(string(d)) {
		var x struct {
			S string
			N int
		}
		json.Unmarshal([]byte(l), &x)
		s, _ := base64.StdEncoding.DecodeString(x.S)
		n++
		if Count(string(s)) != x.N {
			bad++
			if bad < 10 {
				t.Errorf("%q %d want %d %q", s, Count(string(s)), x.N, pieces(string(s)))
			}
		}
	}
	t.Log(n, bad)
}
