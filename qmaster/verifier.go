package qmaster

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/quill-grid/quill/pkg/bus"
	"github.com/quill-grid/quill/pkg/fair"
	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/jsv"
	"github.com/quill-grid/quill/pkg/jsv/script"
	"github.com/quill-grid/quill/pkg/submit"
	"github.com/quill-grid/quill/qmaster/core"
)

// verifier has the submission verifier of qmaster, jsv_url of sge_conf(5), look at
// jobs before the core decides on them. Only the client that submits waits for it
// does. A request that is repeated while it is looked at is looked at once.
type verifier struct {
	q      *QMaster
	conf   atomic.Pointer[verification] // nil: there is no verifier
	free   *fair.Places                 // processes that look at jobs
	bytes  *fair.Places                 // of the requests that are looked at, or wait for that
	ctx    context.Context
	cancel context.CancelFunc

	mu    sync.Mutex
	busy  map[string]*bus.Request // the client that waits for a request; nil: the core has it
	idle  []*script.Script
	tasks sync.WaitGroup
}

// verification is the configuration of the verifier.
type verification struct {
	url       jsv.URL
	timeout   time.Duration
	threshold time.Duration // a verification that takes longer is logged
}

func newVerifier(q *QMaster, conf *grid.Conf) *verifier {
	v := &verifier{
		q: q, busy: map[string]*bus.Request{},
		free: fair.NewPlaces("jobs that the server-side verifier looks at", fair.Limits{Total: 4, User: 3, Waiting: 1000}),
		bytes: fair.NewPlaces("bytes of jobs that wait for the server-side verifier",
			fair.Limits{Total: 64 << 20, User: 16 << 20}),
	}
	v.ctx, v.cancel = context.WithCancel(q.ctx)
	v.configure(conf)
	return v
}

// configure applies a new configuration.
func (v *verifier) configure(c *grid.Conf) {
	var now *verification
	if text := c.Get("jsv_url"); text != "" {
		seconds, milliseconds, _ := c.JSV()
		now = &verification{timeout: time.Duration(seconds) * time.Second,
			threshold: time.Duration(milliseconds) * time.Millisecond}
		now.url, _ = jsv.ServerURL(text) // the core has checked it
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

// enqueue starts the verification of a request. It returns false if the request needs
// none and may go to the core.
func (v *verifier) enqueue(r *bus.Request, req gdi.Request, size int) bool {
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
	if _, again := v.busy[key]; again {
		v.busy[key] = r
		return true
	}
	who := r.FairUser()
	err := v.bytes.Enter(who, size)
	if err == nil {
		v.busy[key] = r
		_, err = v.free.Join(who, 1, func(leave func()) {
			v.tasks.Go(func() {
				v.verifyRequest(conf, key, req)
				v.bytes.Leave(who, size)
				leave()
			})
		})
		if err != nil {
			delete(v.busy, key)
			v.bytes.Leave(who, size)
		}
	}
	if err != nil {
		v.q.refuse(r, req.Body.Verb(), gdi.StatusDenied,
			"too many jobs wait for the job submission verifier, try again later")
	}
	return true
}

// verifyRequest has the job of a request verified, and submits it to the core when the
// script accepts it.
func (v *verifier) verifyRequest(conf *verification, key string, req gdi.Request) {
	v.mu.Lock()
	gone := v.busy[key].ClientGone()
	if gone {
		delete(v.busy, key)
	}
	v.mu.Unlock()
	if gone || v.ctx.Err() != nil {
		return // asked again, perhaps of the next qmaster
	}
	var refusal gdi.Answer
	number, about := uint32(0), req.Body.Verb()
	copied, _ := req.Body.(*gdi.Resubmit)
	if !v.q.owner.hasSubmitted(req) {
		var job *grid.Job
		if job, refusal = v.q.owner.jobOf(req); job != nil {
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
			v.q.refuse(asker, about, refusal.Status, refusal.Text)
		default:
			v.q.owner.submit(input{asker: asker, about: about, make: func(ref uint64) core.Input {
				r := core.UserRequest{Ref: ref, Request: req, Job: number}
				if copied != nil {
					r.CopyOf = copied.Job
				}
				return r
			}})
		}
	}
}

// verified returns the request with the job as the verifier accepts or corrects it. It
// fails when the verifier rejects the job or does not answer. number is the job's id.
func (v *verifier) verified(conf *verification, req gdi.Request, job *grid.Job, number uint32) (gdi.Body, error) {
	s := v.borrow(conf)
	defer v.giveBack(s)
	began := time.Now()
	from := submit.Client{Context: "server", Program: "qmaster", User: req.User, Group: req.Group, Job: number,
		Host: req.Host, Now: began}
	result, err := s.Verify(v.ctx, submit.JSVJob(job, from))
	if took := time.Since(began); took > conf.threshold {
		v.q.log.Info("job verification took long", "user", req.User, "took", took)
	}
	switch {
	case err != nil:
		v.q.log.Error("job submission verifier", "path", conf.url.Path, "error", err)
		return nil, err
	case result.Refusal != "":
		return nil, errors.New(result.Refusal)
	}
	job, err = submit.Corrected(job, result.Corrections, from)
	return withJob(req.Body, job), err
}

// borrow returns a process of the script, a running one if there is one.
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
		s = &script.Script{URL: conf.url, Dir: cell.Dir(), Log: v.log, Env: cell.Environ()}
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

func (v *verifier) log(l jsv.LogMessage) {
	switch l.Level {
	case "WARNING":
		v.q.log.Warn(l.Text)
	case "ERROR":
		v.q.log.Error(l.Text)
	default:
		v.q.log.Info(l.Text)
	}
}

// stop ends the verifier. Clients that wait for it get no answer and repeat the request.
func (v *verifier) stop() {
	v.cancel()
	v.configure(&grid.Conf{})
	v.tasks.Wait()
}

// makesJob reports whether a request submits a job.
func makesJob(b gdi.Body) bool {
	switch b.(type) {
	case *gdi.Submit, *gdi.Verify, *gdi.Resubmit:
		return true
	}
	return false
}

// jobOf returns the job that a request submits, or the refusal.
func (o *owner) jobOf(r gdi.Request) (*grid.Job, gdi.Answer) {
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
