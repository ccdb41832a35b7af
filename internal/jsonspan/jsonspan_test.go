package jsonspan_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/winnow-llm/winnow/internal/jsonspan"
)

func members(text string) (out []string) {
	raw := []byte(text)
	for i := jsonspan.Object(raw); i < len(raw); {
		var key, value jsonspan.Span
		if key, value, i = jsonspan.Member(raw, i); value.To == 0 {
			break
		}
		out = append(out, string(key.In(raw))+"="+string(value.In(raw)))
	}
	return out
}

func elements(text string) (out []string) {
	raw := []byte(text)
	for i := jsonspan.Array(raw); i < len(raw); {
		var value jsonspan.Span
		if value, i = jsonspan.Element(raw, i); value.To == 0 {
			break
		}
		out = append(out, string(value.In(raw)))
	}
	return out
}

func TestSpans(t *testing.T) {
	for raw, want := range map[string][]string{
		``:     nil,
		`null`: nil,
		`{}`:   nil,
		`[1]`:  nil,
		` { "a" : 1 , "b\"\\" :[ {"c":"}]"} ], "a":"\\\"" } `: {`"a"=1`, `"b\"\\"=[ {"c":"}]"} ]`, `"a"="\\\""`},
		`{"a":tru`:        {`"a"=tru`}, // what is inside a value is not checked
		`{"a":1 "b":2}`:   {`"a"=1`},
		`{"a":1,"b" 2}`:   {`"a"=1`},
		`{"a":1,"b":}`:    {`"a"=1`},
		`{"a":1,"b":"c`:   {`"a"=1`},
		`{"a":1,"b":[[]`:  {`"a"=1`},
		`{"a":1,"b\":2}`:  {`"a"=1`},
		`{"a":1,b:2}`:     {`"a"=1`},
		`{"a":1,"b":"\"}`: {`"a"=1`},
	} {
		if got := members(raw); !slices.Equal(got, want) {
			t.Errorf("%s has members %q, want %q", raw, got, want)
		}
	}
	for raw, want := range map[string][]string{
		``:                        nil,
		`[]`:                      nil,
		`{"a":1}`:                 nil,
		"\n[ 1,\"a,]\" , {} ,[]]": {"1", `"a,]"`, "{}", "[]"},
		`[1,]`:                    {"1"},
		`[1,,2]`:                  {"1"},
		`[1,{"a":[2}`:             {"1"},
	} {
		if got := elements(raw); !slices.Equal(got, want) {
			t.Errorf("%s has elements %q, want %q", raw, got, want)
		}
	}
}

// FuzzSpans compares with encoding/json on valid input, and stays inside the
// input on any.
func FuzzSpans(f *testing.F) {
	for _, s := range []string{`{"a":[1,"\\\""],"b":{"c":null}}`, `[true,{"x":"]"},-1.5e3,"\u00e9"]`, `{"a":"\`, `[[[`, `"`, "{\"\xff\":0}"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		names, elems := members(raw), elements(raw)
		if !json.Valid([]byte(raw)) {
			return
		}
		var want []json.RawMessage
		if json.Unmarshal([]byte(raw), &want) == nil && len(elems) != len(want) {
			t.Fatalf("%q has %d elements, want %d", raw, len(elems), len(want))
		}
		for i, e := range elems {
			if e != string(want[i]) {
				t.Errorf("element %d of %q is %q", i, raw, e)
			}
		}
		if all := "{" + strings.ReplaceAll(strings.Join(names, ","), `"=`, `":`) + "}"; len(names) > 0 && !strings.Contains(raw, `"=`) && !json.Valid([]byte(all)) {
			t.Errorf("the members of %q make %s", raw, all)
		}
	})
}
