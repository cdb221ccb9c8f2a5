package qsub

import (
	"fmt"
	"syscall"

	"golang.org/x/sys/unix"
)

// signalName is SIGKILL for 9.
func signalName(number uint32) string {
	if name := unix.SignalName(syscall.Signal(number)); name != "" {
		return name
	}
	return fmt.Sprintf("%d", number)
}
