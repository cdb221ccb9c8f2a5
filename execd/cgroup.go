package execd

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// cgroupParent returns the control group (version 2) below which those of this
// host's jobs are made: in that of the shepherd with this process id, so that a
// unit with Delegate=yes needs no other rights. It fails when there can be none.
func cgroupParent(shepherd int, host string) (string, error) {
	mount, err := fieldOf("/proc/self/mounts", func(line string) (string, bool) {
		f := strings.Fields(line)
		return f[1], len(f) > 2 && f[2] == "cgroup2"
	})
	if err != nil {
		return "", err
	}
	own, err := fieldOf("/proc/"+strconv.Itoa(shepherd)+"/cgroup", func(line string) (string, bool) {
		return strings.CutPrefix(strings.TrimSpace(line), "0::")
	})
	if err != nil {
		return "", err
	}
	parent := filepath.Join(mount, own)
	if err := unix.Access(parent, unix.W_OK); err != nil {
		return "", fmt.Errorf("control group %s: %w", parent, err)
	}
	return filepath.Join(parent, "quill-"+host), nil
}

// fieldOf returns what pick finds in the first line of a file that has it.
func fieldOf(path string, pick func(string) (string, bool)) (string, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	for line := range strings.Lines(string(b)) {
		if v, ok := pick(line); ok {
			return v, nil
		}
	}
	return "", fmt.Errorf("%s names no control group of version 2", path)
}
