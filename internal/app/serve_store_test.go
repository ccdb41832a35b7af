package app

import (
	"bufio"
	"bytes"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestServeWithoutItsStore starts serve and wrap with stores that cannot be
// used: both work, with plans in memory, say so once with path, cause and what
// to do, and leave the file as it is.
func TestServeWithoutItsStore(t *testing.T) {
	dir := isolate(t)
	t.Setenv("XDG_CACHE_HOME", filepath.Join(dir, "cache"))
	damaged := []byte(strings.Repeat("SQLite format 3\x00 or not\n", 500))
	for name, path := range map[string]string{
		"damaged":      filepath.Join(dir, "plans.db"),
		"the default":  filepath.Join(dir, "cache", "winnow", "plans.db"),
		"not writable": filepath.Join(dir, "file", "plans.db"), // a file is in the way
	} {
		t.Run(name, func(t *testing.T) {
			file := path
			if name == "not writable" {
				file = filepath.Dir(path)
			}
			if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(file, damaged, 0o600); err != nil {
				t.Fatal(err)
			}
			args := []string{"--store", path}
			if name == "the default" {
				args = nil
			}
			said := func(text string) {
				t.Helper()
				if strings.Count(text, "plans are kept only in memory: the plans in "+path+" cannot be opened: ") != 1 ||
					!strings.Contains(text, "; check the path and its permissions, or move the file away to start afresh") {
					t.Errorf("it says %q", text)
				}
				if now, err := os.ReadFile(file); err != nil || !bytes.Equal(now, damaged) {
					t.Errorf("the file was changed, %v", err)
				}
			}

			code, stdout, stderr := command(t, "", append(append([]string{"wrap"}, args...), "echo", "the agent runs")...)
			if code != exitDone || stdout != "the agent runs\n" {
				t.Errorf("wrap: %d %s", code, stdout)
			}
			said(stderr)

			cmd := exec.Command("winnow", append([]string{"serve", "--listen", "127.0.0.1:0"}, args...)...)
			var errs bytes.Buffer
			cmd.Stderr = &errs
			out, err := cmd.StdoutPipe()
			if err == nil {
				err = cmd.Start()
			}
			if err != nil {
				t.Fatal(err)
			}
			address, err := bufio.NewReader(out).ReadString('\n')
			if err != nil {
				_ = cmd.Wait()
				t.Fatalf("it does not start: %s", errs.String())
			}
			resp, err := http.Get("http://" + strings.TrimSpace(address) + "/readyz")
			if err != nil {
				t.Fatal(err)
			}
			text, err := io.ReadAll(resp.Body)
			if err != nil || resp.StatusCode != http.StatusOK || !strings.Contains(string(text), `"store":"memory"`) {
				t.Errorf("/readyz: %d %s %v", resp.StatusCode, text, err)
			}
			_ = resp.Body.Close()
			_ = cmd.Process.Signal(os.Interrupt)
			if err := cmd.Wait(); err != nil {
				t.Errorf("%v: %s", err, errs.String())
			}
			said(errs.String())
		})
	}
}
