package qmaster

import (
	"os/user"
	"testing"

	"github.com/quill-grid/quill/pkg/bus"
	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/userdb"
)

// TestSlowUserDatabase: while the user database does not answer about one user, the requests of others are answered,
// and that user's are when it does.
func TestSlowUserDatabase(t *testing.T) {
	q := start(t, Options{Cell: newCell(t)})
	defer stop(t, q)
	asked, answers := make(chan bool, 1), make(chan bool)
	q.intake.accounts = &accounts{
		userdb.Cache[string, account]{Patience: accountWait, Look: func(name string) (account, error) {
			if name == "bob" {
				asked <- true
				<-answers
			}
			return account{}, user.UnknownUserError(name)
		}}}
	submit := func(name string) (gdi.Reply, error) {
		c := q.Remote(bus.Identity{Role: bus.User, Name: name})
		defer c.Close()
		return c.Do(t.Context(), "qsub", &gdi.Submit{Job: aJob(name)})
	}
	type result struct {
		gdi.Reply
		err error
	}
	done := make(chan result)
	go func() {
		r, err := submit("bob")
		done <- result{r, err}
	}()
	<-asked
	if r, err := submit("alice"); err != nil || !r.OK() {
		t.Errorf("another user's request: %v %v", r, err)
	}
	select {
	case r := <-done:
		t.Errorf("answered without the user database: %v", r)
	default:
	}
	close(answers)
	if r := <-done; r.err != nil || !r.OK() {
		t.Errorf("when the user database answers: %v", r)
	}
}
