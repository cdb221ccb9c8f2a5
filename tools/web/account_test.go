package web

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/tools/web/problem"
)

// TestAbandonedConnections: clients that send tokens and leave before qmaster has answered use up no more than the limit, whatever
// qmaster answers in the end, and then the next token is accepted.
func TestAbandonedConnections(t *testing.T) {
	answer, answered := make(chan struct{}), make(chan struct{}, accountsMax)
	a := &accounts{kept: map[[32]byte]*held{}, open: func(_ context.Context, token string) (Account, error) {
		if token != "good" {
			<-answer
			answered <- struct{}{}
			return nil, ErrToken
		}
		return &tokenAccount{}, nil
	}}
	gone, leave := context.WithCancel(t.Context())
	leave()
	for n := range accountsMax {
		if _, err := a.acquire(gone, fmt.Sprint(n)); !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
	}
	if _, err := a.acquire(t.Context(), "good"); !errors.Is(err, errAccounts) {
		t.Fatalf("while %d are being opened: %v", accountsMax, err)
	}
	close(answer)
	for _, h := range a.kept {
		<-h.ready
	}
	h, err := a.acquire(t.Context(), "good")
	if err != nil || len(a.kept) != 1 {
		t.Fatalf("afterwards %v, %d are kept", err, len(a.kept))
	}
	a.release(h)
}

// TestSilentMaster: a request whose answer does not come ends in time, with the number under which it can be sent again: nothing is made twice.
func TestSilentMaster(t *testing.T) {
	c := newCell(t, 1)
	h := as("alice")
	h.Set("Content-Type", "application/json")
	wait := c.server.accounts.wait
	if wait+openWait >= answerWait {
		t.Errorf("qmaster has %v to answer, and the answer %v", wait, answerWait)
	}
	c.server.accounts.wait, c.silent = time.Millisecond, true
	w := c.request("POST", "/v1/jobs", `{"command": ["true"]}`, h)
	key := w.Header().Get(keyHeader)
	if w.Code != http.StatusServiceUnavailable || w.Header().Get("Retry-After") == "" || key == "" || !strings.Contains(w.Body.String(), problem.Prefix+problem.TypeQMaster) {
		t.Fatalf("%d %v %s", w.Code, w.Header(), w.Body)
	}
	c.server.accounts.close()
	c.server.accounts.wait, c.silent = wait, false
	h.Set(keyHeader, key)
	if w = c.request("POST", "/v1/jobs", `{"command": ["true"]}`, h); w.Code != http.StatusCreated || w.Header().Get("Location") != "/v1/jobs/1" {
		t.Errorf("the same again: %d %v %s", w.Code, w.Header(), w.Body)
	}
	h.Add(keyHeader, "another")
	if w = c.request("POST", "/v1/jobs", `{"command": ["true"]}`, h); w.Code != http.StatusUnprocessableEntity || !strings.Contains(w.Body.String(), "a request has one number") {
		t.Errorf("two numbers: %d %s", w.Code, w.Body)
	}
	if n := c.c.Core.State().Len(grid.KindJob); n != 1 {
		t.Errorf("%d jobs were made", n)
	}
}
