package qmaster

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
	"time"

	"github.com/quill-grid/quill/qmaster/core"
)

// recallLists is how many event lists before now are read for jobs that had ended before this process began.
const recallLists = 200_000

// recaller reads the log for the core, beside everything else.
type recaller struct {
	q     *QMaster
	ctx   context.Context
	stop  context.CancelFunc
	tasks sync.WaitGroup
}

func newRecaller(q *QMaster) *recaller {
	r := &recaller{q: q}
	r.ctx, r.stop = context.WithCancel(q.ctx)
	return r
}

// begin reads the log and gives the core what it says of jobs that have ended.
func (r *recaller) begin() {
	r.tasks.Go(func() {
		begun := time.Now()
		ends, err := r.ends()
		if r.ctx.Err() != nil {
			return
		}
		if err != nil {
			r.q.log.Error("log cannot be read: output of jobs that ended before the start is not known", "error", err)
			ends = nil
		} else {
			r.q.log.Info("read the log for jobs that ended before the start", "took", time.Since(begun))
		}
		r.q.owner.submit(input{make: func(uint64) core.Input { return core.Recalled{Ends: ends} }})
	})
}

// ends reads the last lists of the log.
func (r *recaller) ends() (ends *core.Ends, err error) {
	defer func() {
		if why := recover(); why != nil {
			r.q.log.Error("internal error", "error", why, "stack", string(debug.Stack()))
			err = errors.New("internal error")
		}
	}()
	yields, done := r.q.snaps.read()
	defer done()
	log, err := r.q.past()
	if err != nil {
		return nil, err
	}
	defer log.Close()
	_, last := log.Span()
	from, err := log.Full(max(last.Seq, recallLists) - recallLists)
	if err != nil {
		return nil, err
	}
	from = from.Copy()
	seq := from.Seq
	ends = core.NewEnds(from)
	for l, err := range log.Lists(seq + 1) {
		switch {
		case err != nil:
			return nil, err
		case r.ctx.Err() != nil:
			return nil, r.ctx.Err()
		case yields() != nil:
			return nil, errYield
		case l.Seq <= seq:
			continue
		case l.Seq != seq+1:
			return nil, fmt.Errorf("event list %d follows list %d", l.Seq, seq)
		}
		ends.Apply(l)
		seq = l.Seq
	}
	return ends, nil
}

// close ends the reading.
func (r *recaller) close() {
	r.stop()
	r.tasks.Wait()
}
