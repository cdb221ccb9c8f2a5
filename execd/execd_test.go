package execd

import (
	"context"
	"testing"

	"github.com/quill-grid/quill/pkg/report"
)

// childExecd is the execd that gets killed.
func childExecd(socket, dir string) error { _ = context.Background; return nil }

func TestJobRunsAndItsEndIsTold(t *testing.T) {
	m := newMachine(t)
	m.q.deliver("node1", script(t, m.out, 7, "echo hello $JOB_ID; exit 3\n"))
	end := m.q.end(7)
	if r := end.Result; end.Phase != report.Ended || r.Failed != 0 || r.ExitStatus != 3 {
		t.Errorf("end %+v", r)
	}
	if got := m.output(7); got != "hello 7\n" {
		t.Errorf("output %q", got)
	}
}
