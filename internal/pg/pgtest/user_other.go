//go:build !unix

package pgtest

import "os/exec"

type credential struct{ Uid, Gid uint32 }

// unprivileged returns [errAbsent]: tests start a server on Unix alone, where it
// listens on a socket in its folder.
func (s *Server) unprivileged() error { return errAbsent }

func (s *Server) as(*exec.Cmd) {}
