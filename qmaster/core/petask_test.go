package core

import (
	"strings"

	"github.com/cockroachdb/datadriven"
	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/qmaster/core/cell"
)

// qrsh is qrsh -inherit: each line is a task, a host and a command.
func (h *harness) qrsh(d *datadriven.TestData) string {
	var out strings.Builder
	for _, line := range strings.Split(d.Input, "\n") {
		f := strings.Fields(line)
		id, tasks, _ := cell.ParseTaskRef(f[0])
		out.WriteString(h.step(h.request(d, "qrsh", &gdi.StartTask{
			Job: id, Task: tasks.First(), Host: f[1], Launch: &grid.Launch{Args: f[2:]},
		})))
	}
	return out.String()
}

// awaitTask waits for a PE task.
func (h *harness) awaitTask(d *datadriven.TestData) string {
	f := strings.Fields(d.Input)
	id, tasks, _ := cell.ParseTaskRef(f[0])
	return h.step(h.request(d, "qrsh", &gdi.Wait{Job: id, Task: tasks.First(), PETask: f[1], For: f[2]}))
}
