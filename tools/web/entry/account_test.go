package entry

import (
	"context"
	"errors"
	"fmt"
	"testing"
)

// TestAbandonedConnections: clients that send tokens and leave before qmaster has answered use up no more than the
// limit, whatever qmaster answers in the end, and then the next token is accepted.
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
