package app

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/winnow-llm/winnow/internal/kit/longrun"
)

// TestServeMemory sends far more conversations through winnow serve than --memory-size
// has room for, and looks at what the process takes of the machine: its resident
// memory stays below what docs/gateway.md says, however many there were. With
// WINNOW_LOAD set there are 20,000 of 40 KB.
func TestServeMemory(t *testing.T) {
	t.Parallel()
	conversations, setting := 500, 10
	switch {
	case os.Getenv("WINNOW_LOAD") != "":
		conversations, setting = 20_000, 128
	case longrun.Asked():
		conversations, setting = 1_500, 32
	}
	provider := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"choices":[{"message":{"role":"assistant","content":"ok"},"finish_reason":"stop"}],"usage":{"prompt_tokens":9000,"completion_tokens":3}}`)
	}))
	defer provider.Close()
	dir := t.TempDir()
	cmd := exec.Command("winnow", "serve", "--listen", "127.0.0.1:0", "--store", dir+"/plans.db", "--memory-size", strconv.Itoa(setting), "--upstream", "openai="+provider.URL, "--quiet")
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		_ = cmd.Wait() // how it ends is the subject of other tests
	}()
	address, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	url := "http://" + strings.TrimSpace(address) + "/v1/chat/completions"
	line := strings.Repeat("a line of some output that an agent has read; ", 40)
	begin := resident(t, cmd.Process.Pid)
	next := make(chan int)
	var wait sync.WaitGroup
	for range 4 {
		wait.Go(func() {
			for i := range next {
				if err := talkOnce(url, i, line); err != nil {
					t.Error(err)
				}
			}
		})
	}
	most := 0
	for i := range conversations {
		next <- i
		if i%100 == 99 {
			most = max(most, resident(t, cmd.Process.Pid))
		}
	}
	close(next)
	wait.Wait()
	most = max(most, resident(t, cmd.Process.Pid))
	t.Logf("%d conversations of %d KB with --memory-size %d: %d MB resident at first, %d MB at most", conversations, 20*len(line)>>10, setting, begin, most)
	if bound := setting*3/2 + 512; most > bound {
		t.Errorf("%d MB resident, more than %d MB", most, bound)
	}
}

// talkOnce sends a conversation of twenty long messages.
func talkOnce(url string, i int, line string) error {
	var b bytes.Buffer
	fmt.Fprintf(&b, `{"model":"gpt-4.1","max_tokens":100,"messages":[{"role":"user","content":"conversation %d"}`, i)
	for k := range 20 {
		fmt.Fprintf(&b, `,{"role":"assistant","content":"%d of %d"},{"role":"user","content":%q}`, k, i, fmt.Sprint(i, " ", k, " ", line))
	}
	b.WriteString("]}")
	req, err := http.NewRequest(http.MethodPost, url, &b)
	if err != nil {
		return err
	}
	req.Header.Set("Authorization", fmt.Sprintf("Bearer key-%d", i%200))
	req.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if _, err := io.Copy(io.Discard, resp.Body); err != nil {
		return err
	}
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("conversation %d: status %d", i, resp.StatusCode)
	}
	return nil
}

// resident is what a process has of the machine's memory, in MB.
func resident(t *testing.T, pid int) int {
	t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Fatal(err)
	}
	for l := range strings.Lines(string(status)) {
		if rest, ok := strings.CutPrefix(l, "VmRSS:"); ok {
			kb, err := strconv.Atoi(strings.TrimSuffix(strings.TrimSpace(rest), " kB"))
			if err != nil {
				t.Fatal(err)
			}
			return kb >> 10
		}
	}
	t.Fatal("the kernel does not say what is resident")
	return 0
}
