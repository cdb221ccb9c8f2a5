package schedd

import (
	"bytes"
	"os"

	"github.com/quill-grid/quill/schedd/algorithm"
)

// monitor writes what a run does to the schedule file, params MONITOR=1 of
// sched_conf(5): "::::::::" and then a line for each resource that a task
// takes somewhere.
type monitor struct {
	path  string
	lines bytes.Buffer
}

// watch has the run tell its lines.
func (m *monitor) watch(r *algorithm.Run) {
	m.lines.WriteString("::::::::\n")
	r.Monitor = func(line string) {
		m.lines.WriteString(line)
		m.lines.WriteByte('\n')
	}
}

// flush appends the lines to the file; without any there is nothing to do.
func (m *monitor) flush() error {
	if m.lines.Len() == 0 {
		return nil
	}
	f, err := os.OpenFile(m.path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	_, err = f.Write(m.lines.Bytes())
	if closed := f.Close(); err == nil {
		err = closed
	}
	return err
}
