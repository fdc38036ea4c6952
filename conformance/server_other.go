//go:build !linux

package conformance

import "os/exec"

// dieWithParent has no counterpart here: a server outlives a killed test binary.
func dieWithParent(*exec.Cmd) {}
