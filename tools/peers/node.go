package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
)

// node is the process that runs the peers for Node. It answers one line of
// JSON to each line of JSON.
type node struct {
	err error // why there is none
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
}

const nodeDir = "node"

// startNode installs the packages where that was not done, and starts it.
func startNode() *node {
	if _, err := exec.LookPath("node"); err != nil {
		return &node{err: errors.New("not measured: node is not installed")}
	}
	if _, err := os.Stat(nodeDir + "/node_modules"); err != nil {
		npm := exec.Command("npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error")
		npm.Dir, npm.Stderr = nodeDir, os.Stderr
		if err := npm.Run(); err != nil {
			return &node{err: fmt.Errorf("not measured: npm ci in tools/peers/node: %w", err)}
		}
	}
	n := &node{cmd: exec.Command("node", "--max-old-space-size=4096", "peers.mjs")}
	n.cmd.Dir, n.cmd.Stderr = nodeDir, os.Stderr
	in, err1 := n.cmd.StdinPipe()
	out, err2 := n.cmd.StdoutPipe()
	if err := errors.Join(err1, err2); err != nil {
		return &node{err: err}
	}
	if err := n.cmd.Start(); err != nil {
		return &node{err: fmt.Errorf("not measured: %w", err)}
	}
	n.in, n.out = in, bufio.NewReader(out)
	return n
}

// nodeJob is what a peer is asked to do.
type nodeJob struct {
	Op    string `json:"op"`
	Lib   string `json:"lib,omitempty"`
	File  string `json:"file"`
	Limit int    `json:"limit,omitempty"`
}

// nodeResult is what came of it.
type nodeResult struct {
	MS    float64 `json:"ms"`
	Value int     `json:"value"`
	Error string  `json:"error"`
}

func (n *node) do(j nodeJob) (nodeResult, error) {
	var r nodeResult
	if n.err != nil {
		return r, n.err
	}
	line, err := json.Marshal(j)
	if err != nil {
		return r, err
	}
	if _, err := n.in.Write(append(line, '\n')); err != nil {
		return r, err
	}
	answer, err := n.out.ReadBytes('\n')
	if err != nil {
		return r, fmt.Errorf("not measured: node ended: %w", err)
	}
	if err := json.Unmarshal(answer, &r); err != nil {
		return r, err
	}
	if r.Error != "" {
		return r, errors.New("failed: " + r.Error)
	}
	return r, nil
}

func (n *node) close() {
	if n.cmd != nil {
		_ = n.in.Close()
		_ = n.cmd.Wait()
	}
}
