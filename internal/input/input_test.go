package input

import (
	"bytes"
	"compress/gzip"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func zip(t *testing.T, data []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := z.Write(data); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "f")
	if err := os.WriteFile(path, []byte("hello"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got, err := File(path, 5); err != nil || string(got) != "hello" {
		t.Errorf("%q, %v", got, err)
	}
	for _, tt := range []struct {
		path  string
		limit int64
		want  string
		is    error
	}{
		{path, 4, "more than 4 bytes", nil},
		{dir, 100, "name one of the files", nil},
		{filepath.Join(dir, "none"), 100, "no such file; check the path", os.ErrNotExist},
	} {
		_, err := File(tt.path, tt.limit)
		if err == nil || !strings.Contains(err.Error(), tt.want) || tt.is != nil && !errors.Is(err, tt.is) {
			t.Errorf("%s: %v, want %q", tt.path, err, tt.want)
		}
	}
}

func TestStream(t *testing.T) {
	if got, err := Stream(strings.NewReader("12345"), 5); err != nil || string(got) != "12345" {
		t.Errorf("%q, %v", got, err)
	}
	if _, err := Stream(strings.NewReader("123456"), 5); err == nil {
		t.Error("more than the limit was read")
	}
}

func TestPlain(t *testing.T) {
	text := []byte("\xef\xbb\xbf" + strings.Repeat("some text ", 1000))
	want := string(text[3:])
	for name, data := range map[string][]byte{"plain": text, "once": zip(t, text), "twice": zip(t, zip(t, text))} {
		if got, warning, err := Plain(data, 1<<20); err != nil || warning != "" || string(got) != want {
			t.Errorf("%s: %d bytes, %q, %v", name, len(got), warning, err)
		}
	}
	four := text
	for range 4 {
		four = zip(t, four)
	}
	if _, _, err := Plain(four, 1<<20); err == nil || !strings.Contains(err.Error(), "several times") {
		t.Errorf("four times over: %v", err)
	}
	if _, _, err := Plain(zip(t, text), 100); err == nil || !strings.Contains(err.Error(), "more than 100") {
		t.Errorf("a bomb: %v", err)
	}
	if _, _, err := Plain(zip(t, make([]byte, leastUnpacked+1)), 1<<40); err == nil || !strings.Contains(err.Error(), "when decompressed") {
		t.Errorf("a bomb below the limit: %v", err)
	}
	random := make([]byte, 1<<16)
	for i := range random {
		random[i] = byte(i * i >> 3)
	}
	cut := zip(t, random)
	got, warning, err := Plain(cut[:len(cut)-20], 1<<20)
	if err != nil || warning == "" || !bytes.HasPrefix(random, got) || len(got) == 0 {
		t.Errorf("cut short: %d bytes, %q, %v", len(got), warning, err)
	}
	if _, _, err := Plain([]byte{0x1f, 0x8b, 1, 2}, 100); err == nil || !strings.Contains(err.Error(), "but is not one") {
		t.Errorf("only the first bytes: %v", err)
	}
}
