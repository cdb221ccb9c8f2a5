package qmaster

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/quill-grid/quill/pkg/bus"
	"github.com/quill-grid/quill/pkg/codec"
	"github.com/quill-grid/quill/pkg/fair"
	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/report"
	"github.com/quill-grid/quill/qmaster/core"
)

// readAnswer is how long a read of an output file waits for its host: longer than a host takes at most, so that its
// reason arrives.
const readAnswer = report.ReadWait + time.Second

// readers are the clients that wait for a host to read an output file, each with a goroutine: a host that does not
// answer delays no other client.
type readers struct {
	q    *QMaster
	wait time.Duration // readAnswer, but in tests

	users *fair.Places
	hosts *fair.Places
}

func newReaders(q *QMaster) *readers {
	return &readers{
		q: q, wait: readAnswer,
		users: fair.NewPlaces("output files that are read, by user", fair.Limits{Total: 64, User: 8}),
		hosts: fair.NewPlaces("output files that are read, by host", fair.Limits{Total: 64, User: 8}),
	}
}

// start has a host read a part of an output file for a client, and does not wait for it.
func (s *readers) start(w waiter, r core.Read) {
	if w.asker == nil {
		return // it has gone
	}
	user := w.asker.From.Name
	if why := s.acquire(user, r.Host); why != "" {
		s.answer(w, gdi.Reply{Answers: []gdi.Answer{gdi.Deny(gdi.StatusLimit, why)}})
		return
	}
	go func() {
		ctx, cancel := context.WithTimeout(s.q.ctx, s.wait)
		defer cancel()
		answer, err := s.q.conn.AskHost(ctx, bus.HostReadSubject(r.Host), codec.AppendRead(nil, r.Read))
		var p report.Piece
		if err == nil {
			p, err = codec.DecodePiece(answer)
		}
		s.release(user, r.Host) // before the answer: who has it may ask again
		s.answer(w, s.replyOf(r, p, err))
	}()
}

// acquire counts a read; the text, if not empty, is why it has to wait.
func (s *readers) acquire(user, host string) string {
	if err := s.users.Enter(fair.User{Name: user}, 1); err != nil {
		return fmt.Sprintf("denied: %d output files are being read for %q at present, which is the limit: try again later",
			s.users.User, user)
	}
	if err := s.hosts.Enter(fair.User{Name: host}, 1); err != nil {
		s.users.Leave(fair.User{Name: user}, 1)
		return fmt.Sprintf("denied: too many output files are being read on host %q at present: try again later", host)
	}
	return ""
}

func (s *readers) release(user, host string) {
	s.users.Leave(fair.User{Name: user}, 1)
	s.hosts.Leave(fair.User{Name: host}, 1)
}

func (s *readers) answer(w waiter, reply gdi.Reply) {
	status := gdi.StatusOK
	if len(reply.Answers) > 0 {
		status = reply.Answers[0].Status
	}
	s.q.opts.Metrics.answered(w.about, status.Code(), w.since)
	if err := w.asker.Answer(codec.AppendReply(nil, reply)); err != nil {
		s.q.log.Warn("answer cannot be sent", "user", w.asker.From, "error", err)
	}
}

// refusals are the statuses of what a host refuses to read.
var refusals = map[report.Refusal]gdi.Status{
	report.NoFile: gdi.StatusUnknown, report.NotAllowed: gdi.StatusDenied, report.NoAnswer: gdi.StatusNoDaemon,
	report.TooMany: gdi.StatusLimit,
}

// replyOf is the answer to the client, of what a host has answered or why it has not.
func (s *readers) replyOf(r core.Read, p report.Piece, err error) gdi.Reply {
	p.InLines()
	deny := func(status gdi.Status, text string) gdi.Reply {
		return gdi.Reply{Answers: []gdi.Answer{gdi.Deny(status, text)}}
	}
	switch {
	case errors.Is(err, bus.ErrUnserved):
		return deny(gdi.StatusNoDaemon, fmt.Sprintf("failed sending request to execd@%s: it is not connected", r.Host))
	case errors.Is(err, context.DeadlineExceeded):
		return deny(gdi.StatusNoDaemon, fmt.Sprintf("execd@%s has not answered within %v", r.Host, s.wait))
	case err != nil:
		return deny(gdi.StatusNoDaemon, fmt.Sprintf("execd@%s was not asked: %v", r.Host, err))
	case p.Refused == report.Readable:
		return gdi.Reply{Answers: []gdi.Answer{gdi.Done("")}, Output: &gdi.Part{
			Host: r.Host, Path: p.Path, Offset: p.Offset, Next: p.Offset + uint64(len(p.Data)), Size: p.Size,
			Truncated: p.Truncated, Running: r.Running, Data: p.Data,
		}}
	}
	status, known := refusals[p.Refused]
	if !known {
		status = gdi.StatusInvalid
	}
	reply := deny(status, fmt.Sprintf("host %s: %s", r.Host, p.Text))
	if status == gdi.StatusUnknown { // there is no such file
		reply.Answers[0].Field = "o"
		if r.Stderr {
			reply.Answers[0].Field = "e"
		}
	}
	return reply
}
