package config

import (
	"os"
	"path/filepath"
)

// User returns the path of the user's file: winnow/winnow.yaml, or winnow.yaml, in
// the user's configuration folder.
func User() string {
	dir, err := os.UserConfigDir()
	if err != nil {
		return ""
	}
	path := filepath.Join(dir, "winnow", "winnow.yaml")
	if _, err := os.Stat(path); err == nil {
		return path
	}
	return filepath.Join(dir, "winnow.yaml")
}
