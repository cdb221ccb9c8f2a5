package shepherd

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strconv"

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
