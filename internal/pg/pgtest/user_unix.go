//go:build unix

package pgtest

import (
	"errors"
	"os"
	"os/exec"
	"os/user"
	"strconv"
	"syscall"
)

type credential = syscall.Credential

// unprivileged finds a user for the server where this process is root's, whom
// PostgreSQL refuses.
func (s *Server) unprivileged() error {
	if os.Getuid() != 0 {
		return nil
	}
	for _, name := range []string{"postgres", "nobody"} {
		u, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, _ := strconv.Atoi(u.Uid) // numbers on Unix
		gid, _ := strconv.Atoi(u.Gid)
		s.who = &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
		return os.Chown(s.dir, uid, gid)
	}
	return errors.New("this process is root's, and there is no other user to run PostgreSQL as")
}

func (s *Server) as(cmd *exec.Cmd) {
	cmd.Dir = s.dir
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: s.who, Setpgid: true}
}
