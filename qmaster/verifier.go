package qmaster

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/quill-grid/quill/pkg/bus"
	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/jsv"
	"github.com/quill-grid/quill/pkg/jsv/script"
	"github.com/quill-grid/quill/pkg/submit"
	"github.com/quill-grid/quill/qmaster/core"
)

const (
	// scriptsMax is how many processes of the verifier look at jobs at a time.
	scriptsMax = 4
	// verifyMax is how many jobs may wait for the verifier.
	verifyMax = 10_000
	// verifyBytesMax bounds their length; one may wait in any case.
	verifyBytesMax = 64 << 20
)

// verifier has the submission verifier of qmaster, jsv_url of sge_conf(5), look at
// jobs before the core decides on them. Only the client that submits waits for it
// does. A request that is repeated while it is looked at is looked at once.
type verifier struct {
	q      *QMaster
	conf   atomic.Pointer[verification] // nil: there is no verifier
	free   chan struct{}                // as many as processes may run
	ctx    context.Context
	cancel context.CancelFunc

	mu    sync.Mutex
	busy  map[string]*bus.Request // who waits for a request; nil: the core has it
	held  int                     // bytes of the requests that are looked at, or wait for that
	idle  []*script.Script
	tasks sync.WaitGroup
}

// verification is what the configuration says of the verifier.
type verification struct {
	url       jsv.URL
	timeout   time.Duration
	threshold time.Duration // a verification that takes longer is logged
}

func newVerifier(q *QMaster, conf *grid.Conf) *verifier {
	v := &verifier{q: q, free: make(chan struct{}, scriptsMax), busy: map[string]*bus.Request{}}
	v.ctx, v.cancel = context.WithCancel(q.ctx)
	v.obey(conf)
	return v
}

// obey does from now on what a configuration says.
func (v *verifier) obey(c *grid.Conf) {
	var now *verification
	if text := c.Get("jsv_url"); text != "" {
		seconds, milliseconds, _ := c.JSV()
		now = &verification{timeout: time.Duration(seconds) * time.Second, threshold: time.Duration(milliseconds) * time.Millisecond}
		now.url, _ = jsv.ServerURL(text) // the core has seen to it
	}
	if v.conf.Swap(now) != nil && now == nil {
		v.mu.Lock()
		defer v.mu.Unlock()
		for _, s := range v.idle {
			v.tasks.Go(s.Close)
		}
		v.idle = nil
	}
}

// take takes a request that has to be looked at; false: the core may have it.
func (v *verifier) take(r *bus.Request, req gdi.Request, size int) bool {
	conf := v.conf.Load()
	if conf == nil || !makesJob(req.Body) {
		return false
	}
	key := req.User + " " + req.ID
	if req.ID == "" {
		key = fmt.Sprintf("%p", r)
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	_, again := v.busy[key]
	if !again && (len(v.busy) >= verifyMax || v.held > 0 && v.held+size > verifyBytesMax) {
		refuse(r, gdi.StatusDenied, "too many jobs wait for the job submission verifier, try again later")
		return true
	}
	v.busy[key] = r
	if !again {
		v.held += size
		v.tasks.Go(func() {
			v.look(conf, key, req)
			v.mu.Lock()
			v.held -= size
			v.mu.Unlock()
		})
	}
	return true
}

// look has the job of a request verified, and gives it to the core when it passes.
func (v *verifier) look(conf *verification, key string, req gdi.Request) {
	select {
	case v.free <- struct{}{}:
		defer func() { <-v.free }()
	case <-v.ctx.Done():
		return // asked again, of the next qmaster
	}
	var refusal gdi.Answer
	number := uint32(0)
	if !v.q.owner.knows(req) {
		var job *grid.Job
		if job, refusal = v.q.owner.wish(req); job != nil {
			var err error
			number = v.q.owner.setAside()
			req.Body, err = v.verified(conf, req, job, number)
			switch {
			case v.ctx.Err() != nil:
				return
			case err != nil:
				refusal = gdi.Deny(gdi.StatusDenied, err.Error())
			}
		}
	}
	for { // once, or again for who has asked again meanwhile
		v.mu.Lock()
		asker := v.busy[key]
		if v.busy[key] = nil; asker == nil {
			delete(v.busy, key)
		}
		v.mu.Unlock()
		switch {
		case asker == nil:
			return
		case refusal.Status != gdi.StatusOK:
			refuse(asker, refusal.Status, refusal.Text)
		default:
			v.q.owner.give(input{asker: asker, make: func(ref uint64) core.Input {
				return core.Request{Ref: ref, Request: req, Job: number}
			}})
		}
	}
}

// verified is the wish for a job as the verifier lets it pass. The number is the one
// that the job will have.
func (v *verifier) verified(conf *verification, req gdi.Request, job *grid.Job, number uint32) (gdi.Body, error) {
	s := v.borrow(conf)
	defer v.giveBack(s)
	began := time.Now()
	from := submit.Asker{Context: "server", Client: "qmaster", User: req.User, Group: req.Group, Job: number, Host: req.Host, Now: began}
	verdict, err := s.Verify(v.ctx, submit.Wish(job, from))
	if took := time.Since(began); took > conf.threshold {
		v.q.log.Info("job verification took long", "user", req.User, "milliseconds", took.Milliseconds())
	}
	switch {
	case err != nil:
		v.q.log.Error("job submission verifier", "path", conf.url.Path, "error", err)
		return nil, err
	case verdict.Refusal != "":
		return nil, errors.New(verdict.Refusal)
	}
	job, err = submit.Corrected(job, verdict.Changes, from)
	return withJob(req.Body, job), err
}

// borrow is a process of the verifier, one that has run already when there is one.
func (v *verifier) borrow(conf *verification) (s *script.Script) {
	v.mu.Lock()
	if last := len(v.idle) - 1; last >= 0 {
		s, v.idle = v.idle[last], v.idle[:last]
	}
	v.mu.Unlock()
	if s == nil || s.URL != conf.url {
		if s != nil {
			s.Close()
		}
		cell := v.q.opts.Cell
		s = &script.Script{URL: conf.url, Dir: cell.Dir(), Log: v.log, Env: []string{"SGE_ROOT=" + cell.Root, "SGE_CELL=" + cell.Name}}
	}
	s.Timeout = conf.timeout
	return s
}

func (v *verifier) giveBack(s *script.Script) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.conf.Load() == nil {
		v.tasks.Go(s.Close)
		return
	}
	v.idle = append(v.idle, s)
}

func (v *verifier) log(l jsv.Log) {
	switch l.Level {
	case "WARNING":
		v.q.log.Warn(l.Text)
	case "ERROR":
		v.q.log.Error(l.Text)
	default:
		v.q.log.Info(l.Text)
	}
}

// stop ends the verifier. Who waits for it is not answered and asks again.
func (v *verifier) stop() {
	v.cancel()
	v.obey(&grid.Conf{})
	v.tasks.Wait()
}

// makesJob says whether a wish is for a job.
func makesJob(b gdi.Body) bool {
	switch b.(type) {
	case *gdi.Submit, *gdi.Verify, *gdi.Resubmit:
		return true
	}
	return false
}

// wish is the job that a request asks for, or why it cannot be asked for.
func (o *owner) wish(r gdi.Request) (*grid.Job, gdi.Answer) {
	switch b := r.Body.(type) {
	case *gdi.Submit:
		return b.Job, gdi.Answer{}
	case *gdi.Verify:
		return b.Job, gdi.Answer{}
	case *gdi.Resubmit:
		o.mu.Lock()
		defer o.mu.Unlock()
		return o.core.Like(r, b)
	}
	return nil, gdi.Answer{}
}

func withJob(b gdi.Body, job *grid.Job) gdi.Body {
	if v, ok := b.(*gdi.Verify); ok {
		return &gdi.Verify{Job: job, Mode: v.Mode}
	}
	return &gdi.Submit{Job: job}
}
