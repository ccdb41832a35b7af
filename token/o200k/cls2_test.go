package o200k

import (
	"fmt"
	"os"
	"runtime"
	"syscall"
	"testing"
	"time"
	"unsafe"
)

func cpu() time.Duration {
	var ts syscall.Timespec
	syscall.Syscall(syscall.SYS_CLOCK_GETTIME, 3, uintptr(unsafe.Pointer(&ts)), 0)
	return time.Duration(ts.Nano())
}

func TestMix(t *testing.T) {
	runtime.LockOSThread()
	texts := counted(t)
	best := make([]time.Duration, len(texts))
	for i := range best {
		best[i] = time.Hour
	}
	rounds := 60
	for range rounds {
		for i, c := range texts {
			a := cpu()
			Count(c.Text)
			best[i] = min(best[i], cpu()-a)
		}
	}
	a := cpu()
	var over time.Duration = time.Hour
	for range 100 {
		b := cpu()
		over = min(over, b-a)
		a = b
	}
	var all, cjk time.Duration
	var nall, ncjk int
	per := map[string]time.Duration{}
	pern := map[string]int{}
	for i, c := range texts {
		d := best[i] - over
		all += d
		nall += len(c.Text)
		per[c.Class] += d
		pern[c.Class] += len(c.Text)
		if c.Class == "ja" || c.Class == "zh" || c.Class == "ru" {
			cjk += d
			ncjk += len(c.Text)
		}
	}
	lb := time.Hour
	for range 6 {
		a := cpu()
		unpack()
		lb = min(lb, cpu()-a)
	}
	fmt.Printf("mixed %.1f cjk %.1f load %v\n", float64(nall)/1e6/all.Seconds(), float64(ncjk)/1e6/cjk.Seconds(), lb)
	if os.Getenv("PER") != "" {
		for k, d := range per {
			fmt.Printf("  %-12s %6.1f MB/s %7.2f%%\n", k, float64(pern[k])/1e6/d.Seconds(), 100*d.Seconds()/all.Seconds())
		}
	}
}
