//go:build !unix

package pgtest

import "os/exec"

type credential struct{ Uid, Gid uint32 }

// unprivileged says that there is no server: tests start one on Unix alone, where it
// listens on a socket in its folder.
func (s *Server) unprivileged() error { return errAbsent }

func (s *Server) as(*exec.Cmd) {}
