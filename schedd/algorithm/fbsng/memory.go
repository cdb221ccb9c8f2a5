package fbsng

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/quill-grid/quill/pkg/grid"
)

// State of this algorithm that qmaster stores, by name and values:
//
//	queue/high    priority=5 last_start=17: the running counter of starts
//	batch/7       gain=3: how often its sections were passed
//	jobs/7        jobs=1-5,9: the sections of the batch
//	move/3        queue=high QPmin=5 passed=7: the priority changes of one start of the last run
//
// A batch consists of sections that were passed together. It is split when some of them
// are passed and others are not, and removed when all of its jobs are gone. Moves are
// stored with the starts that qmaster accepts; the next run applies them (moves.go).
const (
	ofQueue = "queue/"
	ofBatch = "batch/"
	ofJobs  = "jobs/"
	ofMove  = "move/"
)

// stateToStore returns an object to be stored; without values it is removed.
func stateToStore(name string, values ...grid.Value) grid.AlgorithmState {
	return grid.AlgorithmState{Algorithm: Name, Name: name, Values: values}
}

func value(name string, n int) grid.Value { return grid.Value{Name: name, Text: strconv.Itoa(n)} }

func number(s *grid.AlgorithmState, name string) int {
	text, _ := s.Values.Get(name)
	n, _ := strconv.Atoi(text)
	return n
}

func batchName(kind string, id uint32) string { return fmt.Sprintf("%s%d", kind, id) }

// readState applies an object that was stored or removed.
func (m *Model) readState(key string) {
	name, own := strings.CutPrefix(key, Name+"/")
	if !own {
		return
	}
	s, _ := m.State.Get(grid.KindAlgorithmState, grid.Key{Name: key}).(*grid.AlgorithmState)
	if queue, ok := strings.CutPrefix(name, ofQueue); ok {
		if s == nil {
			m.queues.Delete(queue)
		} else {
			m.queues.Set(queue, standing{number(s, "priority"), number(s, "last_start")})
		}
		return
	}
	prefix, text, _ := strings.Cut(name, "/")
	n, err := strconv.ParseUint(text, 10, 32)
	if err != nil {
		return
	}
	id := uint32(n)
	if prefix+"/" == ofMove {
		if m.moves.Delete(int(n)); s != nil {
			m.moves.Set(int(n), moveOf(s))
		}
		return
	}
	b, _ := m.batches.Get(id)
	switch prefix + "/" {
	case ofBatch:
		if b.gain = 0; s != nil {
			b.gain = number(s, "gain")
		}
	case ofJobs:
		was := b.jobs
		if b.jobs = ""; s != nil {
			b.jobs, _ = s.Values.Get("jobs")
		}
		if was != b.jobs {
			m.regroup(id, was, b.jobs)
		}
	}
	if b.gain == 0 && b.jobs == "" {
		m.batches.Delete(id)
	} else {
		m.batches.Set(id, b)
	}
}

// regroup follows which jobs are of a batch.
func (m *Model) regroup(id uint32, was, is string) {
	x := m.index
	old, now := parseRanges(was), parseRanges(is)
	old.Minus(now).Each(func(job uint32) bool {
		if x.batchOf[job] == id {
			delete(x.batchOf, job)
		}
		x.touched.Add(job)
		return true
	})
	now.Minus(old).Each(func(job uint32) bool {
		x.batchOf[job] = id
		x.touched.Add(job)
		return true
	})
}

// parseRanges reads what grid.Ranges prints.
func parseRanges(text string) (out grid.Ranges) {
	for part := range strings.SplitSeq(text, ",") {
		var r grid.Range
		switch n, _ := fmt.Sscanf(part, "%d-%d:%d", &r.First, &r.Last, &r.Step); n {
		case 0:
			continue
		case 1:
			r.Last, r.Step = r.First, 1
		case 2:
			r.Step = 1
		}
		out = append(out, r)
	}
	return out
}
