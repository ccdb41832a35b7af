package main

import (
	"os"
	"os/exec"
	"path/filepath"

	"github.com/winnow-llm/winnow/internal/app/demo"
)

// command measures whole processes.
func command(b *bench) error {
	dir, err := b.temp()
	if err != nil {
		return err
	}
	bin := filepath.Join(dir, "winnow")
	build := exec.Command("go", "build", "-o", bin, "./cmd/winnow")
	build.Dir, build.Stderr = filepath.Join("..", ".."), os.Stderr
	if err := build.Run(); err != nil {
		return err
	}
	big, small := filepath.Join(dir, "large.json"), filepath.Join(dir, "small.json")
	for file, n := range map[string]int{big: 10_000, small: 40} {
		if err := os.WriteFile(file, demo.Large(n), 0o600); err != nil {
			return err
		}
	}
	process := func(args ...string) func() (float64, error) {
		return func() (float64, error) {
			return timed(1, func() error { return exec.Command(bin, args...).Run() })
		}
	}
	if err := b.compare("winnow --help, whole process", "ms", false, 50, process("--help")); err != nil {
		return err
	}
	if err := b.compare("winnow check on a small file, whole process", "ms", false, 50, process("check", small)); err != nil {
		return err
	}
	return b.compare("winnow compact on 5 MB of JSON, whole process", "ms", false, 250,
		process("compact", big, "--window", "200000", "--plan", filepath.Join(dir, "plan.json"), "--json"))
}
