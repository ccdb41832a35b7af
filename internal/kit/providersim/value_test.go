package providersim

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func TestCanonIsTheSameForEveryWriting(t *testing.T) {
	same := []string{
		`{"a":"é","b":[1,{"c":true}]}`,
		"{ \"b\" : [ 1, {\"c\":true, \"d\":null} ],\n\"a\":\"\\u00e9\" }",
		`{"a":"é","b":[1,{"c":true}],"e":[],"leave":{"x":1}}`,
	}
	want := string(parse(t, same[0]).appendCanonical(nil, "leave"))
	for _, text := range same[1:] {
		if got := string(parse(t, text).appendCanonical(nil, "leave")); got != want {
			t.Errorf("%s\n%s\nwant %s", text, got, want)
		}
	}
	// Texts that could be mistaken for structure stay apart.
	if a, b := parse(t, `["a","b"]`).appendCanonical(nil), parse(t, `["a,\"1:b"]`).appendCanonical(nil); string(a) == string(b) {
		t.Errorf("%s equals %s", a, b)
	}
}

func TestEncode(t *testing.T) {
	o := object{"a", 1, "b", "x<\"é\x01", "c", list{nil, true, 1.5}, "d", rawJSON(`{"z":0}`), "e", list(nil), "f", object{}}
	var v any
	if err := json.Unmarshal(encodeJSON(o), &v); err != nil {
		t.Fatalf("%v: %s", err, encodeJSON(o))
	}
	if got, want := string(encodeJSON(o)), `{"a":1,"b":"x<\"é\u0001","c":[null,true,1.5],"d":{"z":0},"e":[],"f":{}}`; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// FuzzServe throws bodies at every route. Whatever comes, the answer is JSON
// with a status that a provider could give, and nothing panics.
func FuzzServe(f *testing.F) {
	paths := []string{"/v1/chat/completions", "/v1/responses", "/v1/messages", gPath, "/v1/messages/count_tokens", "/v1beta/models/m:countTokens"}
	for i, body := range []string{
		cm(cUser + "," + cCalls + "," + cRes1 + "," + cRes2), rm(rUser + "," + rRS + "," + rCall + "," + rOut),
		am(aUser+","+aCalls+","+user(aRes1+","+aRes2), `"tools":[{"name":"x","input_schema":{"type":"object","properties":{"a":{"type":["array"],"items":{}}},"required":["a"]}}]`),
		gm(gUser + "," + gCalls + "," + gRes), am(`{"role":"user"}`), gm(`{"role":"user","parts":[{"text":null}]}`),
	} {
		f.Add(uint8(i), body)
	}
	f.Add(uint8(0), `{"model":"m","messages":[7,null,"x",{"role":{},"content":[[],3]}]}`)
	f.Add(uint8(2), `{"model":"m","max_tokens":1,"messages":[{"role":"assistant","content":[{}]}],"tools":{"a":1}}`)
	f.Fuzz(func(t *testing.T, n uint8, body string) {
		s := New(Options{})
		defer s.Close()
		w := httptest.NewRecorder()
		s.Handler().ServeHTTP(w, httptest.NewRequest(http.MethodPost, paths[int(n)%len(paths)], strings.NewReader(body)))
		if w.Code != 200 && w.Code != 400 && w.Code != 404 {
			t.Errorf("status %d", w.Code)
		}
		if !strings.HasPrefix(w.Header().Get("Content-Type"), "text/event-stream") && !json.Valid(w.Body.Bytes()) {
			t.Errorf("no JSON: %s", w.Body.String())
		}
	})
}
