package session

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/quill-grid/quill/pkg/cell"
	"github.com/quill-grid/quill/pkg/client"
	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/submit"
)

// Session is one DRMAA session. All methods may be used by several threads.
type Session struct {
	name   string
	cell   cell.Cell
	origin func() submit.Origin
	// ask and feed are connections of their own: while qmaster is away the feed
	// waits for it as long as it takes, a call does not.
	ask, feed *client.Remote

	ctx   context.Context
	close context.CancelFunc
	done  chan struct{} // the feed has ended

	mu      sync.Mutex
	ledger  *sessionLedger
	changed chan struct{} // closed with the next change of the ledger; nil: no call waits for it
	failed  error         // the feed's: it will not come back
}

// contactPrefix begins what Contact returns.
const contactPrefix = "session="

// Open begins a session, or continues with that of a contact, Session.Contact of
// an earlier one: with those of its jobs that have not ended. origin is asked
// at this moment and whenever a job is submitted.
func Open(contact string, origin func() submit.Origin) (*Session, error) {
	name, ok := strings.CutPrefix(contact, contactPrefix)
	switch {
	case contact == "":
		host, _ := os.Hostname()
		name = fmt.Sprintf("%s.%d.%s", host, os.Getpid(), rand.Text()[:8])
	case !ok || name == "":
		return nil, because(InvalidContactString)
	}
	cell, err := cell.FindIn(origin().Getenv)
	if err != nil {
		return nil, reach(err)
	}
	s := &Session{name: name, cell: cell, origin: origin, done: make(chan struct{}), ledger: newLedger(name)}
	s.ctx, s.close = context.WithCancel(context.Background())
	if s.ask, err = client.Connect(s.ctx, cell); err != nil {
		return nil, reach(err)
	}
	if s.feed, err = client.Connect(s.ctx, cell); err != nil {
		s.ask.Close()
		return nil, reach(err)
	}
	filled := make(chan struct{})
	go s.listen(filled)
	select {
	case <-filled:
		return s, nil
	case <-s.done:
		s.Close()
		return nil, s.failed
	}
}

// reach is why qmaster cannot be asked.
func reach(err error) error {
	var none *cell.NotFound
	var e *Error
	switch {
	case errors.As(err, &e):
		return err
	case errors.As(err, &none):
		return &Error{InitFailed, none.Text}
	}
	return &Error{CommunicationFailure, strings.TrimPrefix(err.Error(), "error: ")}
}

// Contact is what Open continues with the session by.
func (s *Session) Contact() string { return contactPrefix + s.name }

// Close ends the session; its jobs continue. A call that waits for one fails with
// NoActiveSession.
func (s *Session) Close() error {
	if s.ctx.Err() != nil {
		return because(NoActiveSession)
	}
	s.close()
	s.change(func(*sessionLedger) {})
	<-s.done
	s.ask.Close()
	s.feed.Close()
	return nil
}

// change has the ledger changed, and wakes who waits for that.
func (s *Session) change(how func(*sessionLedger)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	how(s.ledger)
	if s.changed != nil {
		close(s.changed)
		s.changed = nil
	}
}

// Forever is a timeout that is none; 0 does not wait.
const Forever = -1

// await has look see the ledger until it says that it has seen enough, or an
// error, for so many seconds.
func (s *Session) await(seconds int64, look func(*sessionLedger) (enough bool, err error)) error {
	var late <-chan time.Time
	if seconds >= 0 {
		timer := time.NewTimer(time.Duration(min(seconds, int64(longest/time.Second))) * time.Second)
		defer timer.Stop()
		late = timer.C
	}
	for {
		s.mu.Lock()
		if s.ctx.Err() != nil {
			s.mu.Unlock()
			return because(NoActiveSession)
		}
		enough, err := look(s.ledger)
		if !enough && err == nil {
			err = s.failed
		}
		if s.changed == nil {
			s.changed = make(chan struct{})
		}
		changed := s.changed
		s.mu.Unlock()
		if enough || err != nil {
			return err
		}
		select {
		case <-changed:
		case <-late:
			return because(ExitTimeout)
		}
	}
}

// longest is how long a timeout may be: no more fits a duration.
const longest = 1<<63 - 1

// do asks qmaster for something and waits until the ledger knows what came of
// it. The answers are those of a reply without refusals; a refusal is an error with
// the number that its status has, other for any.
func (s *Session) do(body gdi.Body, other Errno) (gdi.Reply, error) {
	reply, err := s.ask.Do(s.ctx, "drmaa", body)
	if s.ctx.Err() != nil {
		return reply, because(NoActiveSession)
	}
	if err != nil {
		return reply, reach(err)
	}
	if err := s.await(Forever, func(l *sessionLedger) (bool, error) { return l.now.Seq >= reply.Seq, nil }); err != nil {
		return reply, err
	}
	for _, a := range reply.Answers {
		if a.Status != gdi.StatusOK {
			return reply, &Error{numberOf(a.Status, other), a.Text}
		}
	}
	return reply, nil
}

// numberOf is the error number of a refusal.
func numberOf(status gdi.Status, other Errno) Errno {
	switch status {
	case gdi.StatusNotYet, gdi.StatusShutdown, gdi.StatusLimit:
		return TryLater
	case gdi.StatusNoDaemon:
		return CommunicationFailure
	}
	return other
}
