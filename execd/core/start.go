package core

import (
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/report"
)

// Start is an attempt to start, with all that was delivered about it.
type Start struct {
	Deliver report.Deliver
	Job     *grid.Job
	Queue   report.QueueInstance
	Binding *Binding // nil: it is not bound to cores
}

// Binding has the cores of an attempt. Text is the host's topology with these in lower
// case: the shepherd, the next execd and qmaster identify the cores by it.
type Binding struct {
	Cores []CPUCore
	Text  string
}

// hostSlots returns the slots of a job on this host.
func (s *Start) hostSlots(host string) (n uint32) {
	for _, g := range s.Deliver.Grants {
		if g.Host == host {
			n += g.Slots
		}
	}
	return max(n, 1)
}

// TmpDir is the queue's tmpdir.
func (s *Start) TmpDir() string {
	if isNone(s.Queue.TmpDir) {
		return "/tmp"
	}
	return s.Queue.TmpDir
}

// limitChange is a request for other limits that the shepherd has not answered.
type limitChange struct {
	version uint32
	limits  report.LimitsChange
	queue   report.QueueInstance
	sent    bool
	queued  bool // the one before is with the shepherd
}
