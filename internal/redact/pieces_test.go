package redact

import (
	"encoding/base64"
	"strings"
	"testing"
)

const (
	keyLine = "MIIEpAIBAAKCAQEA7bq3vJ1xk2Zr0Yt9pWm4sLd8cFhN5uQeRgTiOoPaSdFgHjKl"
	token   = "github_pat_" + "11ABCDEFG0aB3dE5fG7hI9_jK1lM3nO5pQ7rS9tU1vW3xY5zA7bC9dE1fG3hI5jK7lM9nO1pQ3r"
)

// What is left of a secret in a text that was shortened is found with the whole text.
func TestPieces(t *testing.T) {
	var r Redactor
	whole := "log\n-----BEGIN RSA PRIVATE KEY-----\n" + strings.Repeat(keyLine+"\n", 6) + "-----END RSA PRIVATE KEY-----\nremote: " + token + " refused\napi_key: process.env.API_KEY\n"
	secrets := r.Secrets(whole)
	for _, text := range []string{
		"[…]\n" + keyLine + "\n-----END RSA PRIVATE KEY-----\n",
		"the line " + keyLine[20:] + " and so on",
		"the line " + keyLine[:40] + "…",
		"remote: " + token[:35] + "[…]",
		"[…]" + token[40:] + " refused",
	} {
		clean, n := Without(text, secrets)
		for i := 0; i+20 <= len(keyLine); i++ {
			if strings.Contains(clean, keyLine[i:i+20]) {
				t.Errorf("%q: a piece of the key is left", clean)
				break
			}
		}
		for i := len("github_pat_"); i+20 <= len(token); i++ {
			if strings.Contains(clean, token[i:i+20]) {
				t.Errorf("%q: a piece of the token is left", clean)
				break
			}
		}
		if n == 0 {
			t.Errorf("nothing is found in %q", text)
		}
	}
	for _, text := range []string{"const home = process.env.HOME", "-----END RSA PRIVATE KEY-----", "words of the log"} {
		if clean, n := Without(text, secrets); n != 0 || clean != text {
			t.Errorf("%q became %q", text, clean)
		}
	}
}

// A text file in base64 holds its secrets too.
func TestEncodedFiles(t *testing.T) {
	var r Redactor
	file := base64.StdEncoding.EncodeToString([]byte("# settings of the service\nTOKEN=" + token + "\nPORT=8080\n"))
	for _, data := range []string{file, "data:text/plain;base64," + file} {
		raw := `{"file_data":"` + data + `","n":1}`
		clean := string(r.Record([]byte(raw)))
		head, rest, _ := strings.Cut(clean, file[:24]) // what stands before the secret is as it was
		rest, _, _ = strings.Cut(rest, `"`)
		text, err := base64.StdEncoding.DecodeString(file[:24] + rest)
		if err != nil || !strings.HasPrefix(raw, head) {
			t.Fatalf("%s: %v", clean, err)
		}
		if strings.Contains(string(text), token[20:]) || !strings.Contains(string(text), "PORT=8080") {
			t.Errorf("the file became %q", text)
		}
	}
	picture := `{"data":"` + base64.StdEncoding.EncodeToString([]byte("\x89PNG\r\n\x1a\n"+strings.Repeat("\x00\xff", 99))) + `"}`
	if got := string(r.Record([]byte(picture))); got != picture {
		t.Error("a picture was altered")
	}
}
