package conformance

import (
	"os/exec"
	"syscall"
)

// dieWithParent lets the server go where the test binary is killed.
func dieWithParent(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
}
