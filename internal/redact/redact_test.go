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

// TestServices takes made-up keys in the form of each service out of a settings
// file, a log line, a header and escaped JSON.
func TestServices(t *testing.T) {
	x := func(n int) string { return strings.Repeat("aB3dE6gH9j", n/10+1)[:n] }
	hex := func(n int) string { return strings.Repeat("0123456789abcdef", n/16+1)[:n] }
	up := func(n int) string { return strings.Repeat("A2B3C4D5E6", n/10+1)[:n] }
	for name, secret := range map[string]string{
		"Groq": "gsk_" + x(52), "xAI": "xai-" + x(80), "Perplexity": "pplx-" + x(48), "Replicate": "r8_" + x(37), "Together": "tgp_v1_" + x(43),
		"Fireworks": "fw_" + x(24), "Cerebras": "csk-" + strings.ToLower(x(48)),
		"Google access": "ya29." + x(60), "Google client": "GOCSPX-" + x(28), "Google refresh": "1//0" + x(60),
		"PyPI": "pypi-" + x(120), "RubyGems": "rubygems_" + hex(48), "Docker": "dckr_pat_" + x(27), "NuGet": "oy2" + strings.ToLower(x(43)),
		"Vault": "hvs." + x(90), "Terraform": x(14) + ".atlasv1." + x(67), "Databricks": "dapi" + hex(32), "Supabase": "sbp_" + hex(40),
		"Fly": "fm2_" + x(90), "Heroku": "HRKU-" + x(60), "1Password": "ops_eyJ" + x(90),
		"SendGrid": "SG." + x(22) + "." + x(43), "Twilio": "SK" + hex(32), "Shopify": "shpat_" + hex(32), "Square": "sq0atp-" + x(22),
		"Linear": "lin_api_" + x(40), "Notion": "ntn_" + x(46), "Atlassian": "ATATT3" + x(180), "Grafana": "glsa_" + x(41), "New Relic": "NRAK-" + up(27),
		"Sentry": "sntrys_" + x(90), "Postman": "PMAK-" + hex(24) + "-" + hex(34), "Slack app": "xapp-1-" + x(60), "Stripe hook": "whsec_" + x(32),
		"Mailgun": "key-" + hex(32), "Figma": "figd_" + x(40), "Doppler": "dp.pt." + x(43),
		"Telegram": "123456789:AA" + x(33), "age": "AGE-SECRET-KEY-1" + up(58),
	} {
		for _, text := range []string{
			"X=" + secret + "\n", "export X='" + secret + "'", "> X-Auth: " + secret + "\r\n", `{\"k\": \"` + secret + `\"}`, "used " + secret + ", then failed",
		} {
			var r redact.Redactor
			if out, n := r.Text(text); n == 0 || strings.Contains(out, secret[4:]) {
				t.Errorf("%s: %q became %q", name, text, out)
			}
		}
	}
	for text, secret := range map[string]string{
		"DefaultEndpointsProtocol=https;AccountName=a;AccountKey=" + x(86) + "==;EndpointSuffix=core": x(86),
		"https://a.blob.core.windows.net/c/f?sv=2024&sig=" + x(40) + "%3D":                            x(40),
		"https://b.s3.amazonaws.com/k?X-Amz-Signature=" + hex(64) + "&x=1":                            hex(64),
		"https://hooks.slack.com/services/T01/B02/" + x(24):                                           x(24),
		"DISCORD_TOKEN=M" + x(25) + "." + x(6) + "." + x(38):                                          x(38),
		"https://discord.com/api/webhooks/123/" + x(60):                                               x(60),
		"Authorization: Basic " + x(32) + "==":                                                        x(32),
		"set-cookie: theme=dark; session_id=" + x(40) + "; Path=/":                                    x(40),
	} {
		var r redact.Redactor
		if out, n := r.Text(text); n == 0 || strings.Contains(out, secret) {
			t.Errorf("%q became %q", text, out)
		}
	}
	for _, plain := range []string{
		"skip this test", "the basic idea is simple enough to explain", "SG.go and sk.json", "github.com/a/b.git", "key-value pairs", "fw_version=3",
		"a cookie is set: theme=dark", "https://example.org/?sig=short", "import Basic", "1.2.3-rc.1+build.20260101abcdef0123456789abcdef", "foo.barbaz.quxquux",
		"ntn_app is a name", "xai-sdk==1.2", "example.com:443 basic auth is off",
	} {
		var r redact.Redactor
		if out, n := r.Text(plain); n != 0 {
			t.Errorf("%q became %q", plain, out)
		}
	}
}
