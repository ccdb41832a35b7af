package redact_test

import (
	"strings"
	"testing"

	"github.com/winnow-llm/winnow/internal/redact"
)

// TestForms takes the secrets of services out of the texts in which they stand,
// and leaves what only looks alike.
func TestForms(t *testing.T) {
	key := func(parts ...string) string { return strings.Join(parts, "") } // so that no scanner finds a key in this file
	id := key("AK", "IA", "IOSFODNN7EXAMPLE")
	secret := key("wJalrXUtnFEMI/K7MDENG/", "bPxRfiCYEXAMPLEKEY")
	hf := key("hf", "_", strings.Repeat("aB3d", 9))
	do := key("dop", "_v1_", strings.Repeat("0a1b", 16))
	for _, c := range []struct{ text, secret string }{
		{"HF_TOKEN: " + hf + " (read)", hf},
		{"curl -H 'x: " + do + "'", do},
		{"AWS_ACCESS_KEY_ID=" + id + "\nAWS_SECRET_ACCESS_KEY=" + secret + "\n", secret},
		{`{"AccessKeyId": "` + id + `", "SecretAccessKey": "` + secret + `"}`, secret},
		{`{\"SecretAccessKey\": \"` + secret + `\"}`, secret},
		{"AWS Secret Access Key [None]: " + secret, secret},
		{"aws_secret_access_key = " + secret, secret},
		{id + "," + secret, secret},
		{id + " " + secret, secret},
		{"Access key ID,Secret access key\n" + id + "," + secret + "\n", secret},
		{secret + ", " + id, secret},
	} {
		var r redact.Redactor
		out, n := r.Text(c.text)
		if n == 0 || strings.Contains(out, c.secret) || strings.Contains(out, id) || !strings.Contains(out, "[redacted: ") {
			t.Errorf("%q became %q", c.text, out)
		}
		if again, more := r.Text(out); more != 0 || again != out {
			t.Errorf("%q becomes %q the second time", out, again)
		}
	}
	for _, plain := range []string{
		"commit 1234567890abcdef1234567890abcdef12345678",
		"hf_hub_download(repo_id)", "dop_v1_ is a prefix", "the secret key is rotated each month",
		"see /usr/share/doc/some/rather/long/path/to/a/file.txt",
	} {
		var r redact.Redactor
		if out, n := r.Text(plain); n != 0 {
			t.Errorf("%q became %q", plain, out)
		}
	}
}
