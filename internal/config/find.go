package config

import (
	"io/fs"
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

// Project returns the project's file: the nearest .winnow.yaml from here up to
// the root of the repository, which is the folder with .git; where there is no
// repository, that of the current folder alone. It never looks beyond the user's
// home: folders above belong to others. A file above the current folder that
// does not count is returned as passed.
func Project() (file, passed string) {
	here, err := os.Getwd()
	if err != nil {
		return "", ""
	}
	var home fs.FileInfo
	if dir, err := os.UserHomeDir(); err == nil {
		home, _ = os.Stat(dir) // a home that is not there ends nothing
	}
	nearest := ""
	for dir := here; ; dir = filepath.Dir(dir) {
		path := filepath.Join(dir, ProjectFile)
		if _, err := os.Lstat(path); err == nil && nearest == "" {
			nearest = path
		}
		if _, err := os.Stat(filepath.Join(dir, ".git")); err == nil {
			return nearest, ""
		}
		info, err := os.Stat(dir)
		if dir == filepath.Dir(dir) || err == nil && home != nil && os.SameFile(info, home) {
			break
		}
	}
	if filepath.Dir(nearest) == here {
		return nearest, ""
	}
	return "", nearest
}
