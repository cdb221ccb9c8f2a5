package schedd

import (
	"bytes"
	"os"
	"time"

	"github.com/quill-grid/quill/schedd/algorithm"
)

// monitor writes what a run does to the schedule file, params MONITOR=1 of
// sched_conf(5): "::::::::" and then a line for each resource that a task
// takes somewhere.
type monitor struct {
	path  string
	lines bytes.Buffer
}

// watch has the run write its lines.
func (m *monitor) watch(r *algorithm.Run) {
	m.lines.WriteString("::::::::\n")
	r.Monitor = func(line string) {
		m.lines.WriteString(line)
		m.lines.WriteByte('\n')
	}
}

// runLog writes why queues take no jobs and why jobs wait in one run to the
// file schedd_runlog, qconf -tsm: lines with the time in front.
type runLog struct {
	path  string
	stamp string
	lines bytes.Buffer
}

// watch has the run write its messages.
func (l *runLog) watch(r *algorithm.Run) {
	l.stamp = r.Now.Std().Format(time.ANSIC) + "|"
	l.line("-------------START-SCHEDULER-RUN-------------")
	r.Explain, r.Log = true, l.line
}

func (l *runLog) line(text string) { l.lines.WriteString(l.stamp + text + "\n") }

func (l *runLog) flush() error {
	if l.lines.Len() > 0 {
		l.line("--------------STOP-SCHEDULER-RUN-------------")
	}
	return appendTo(l.path, &l.lines)
}

// flush appends the lines to the file.
func (m *monitor) flush() error { return appendTo(m.path, &m.lines) }

// appendTo appends lines to a file; without any there is nothing to do.
func appendTo(path string, lines *bytes.Buffer) error {
	if lines.Len() == 0 {
		return nil
	}
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	_, err = f.Write(lines.Bytes())
	if closed := f.Close(); err == nil {
		err = closed
	}
	return err
}
