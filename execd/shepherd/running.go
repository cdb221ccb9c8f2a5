package shepherd

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"
	"time"

	"github.com/quill-grid/quill/execd/procfs"
)

// Running returns the ids of the shepherds whose directories lie below one, in order. A child that such a process is
// about to turn into a job or step is none.
func Running(below string) (pids []int) {
	files, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, path := range files {
		line, _ := os.ReadFile(path)
		words := bytes.Split(bytes.TrimSuffix(line, []byte{0}), []byte{0})
		if n := len(words); n < 2 || string(words[n-2]) != "shepherd" || !bytes.HasPrefix(words[n-1], []byte(below+"/")) {
			continue
		}
		if pid, err := strconv.Atoi(filepath.Base(filepath.Dir(path))); err == nil {
			pids = append(pids, pid)
		}
	}
	all := slices.Clone(pids)
	pids = slices.DeleteFunc(pids, func(pid int) bool {
		s, ok := procfs.ReadStat(pid)
		return !ok || slices.Contains(all, s.Parent)
	})
	slices.Sort(pids)
	return pids
}

// EndBelow ends the shepherds whose directories lie below one, which outlive their execd by design, and their jobs with
// them. After the patience it kills them; it fails when some are left after as long again.
func EndBelow(dir string, patience time.Duration) error {
	signal := syscall.SIGTERM
	for begun := time.Now(); ; time.Sleep(5 * time.Millisecond) {
		left := Running(dir)
		switch waited := time.Since(begun); {
		case len(left) == 0:
			return nil
		case waited > 2*patience:
			return fmt.Errorf("shepherds of %s do not end: %v", dir, left)
		case waited > patience:
			signal = syscall.SIGKILL
		}
		for _, pid := range left {
			syscall.Kill(pid, signal)
		}
	}
}
