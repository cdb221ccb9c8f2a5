package bus

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/quill-grid/quill/pkg/frame"
	"github.com/quill-grid/quill/pkg/testkit"
)

// vault is the owner of some tokens.
type vault struct {
	mu     sync.Mutex
	closed bool // nothing is known yet
	users  map[uint32]string
	secret map[uint32]string
}

func (v *vault) close(closed bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.closed = closed
}

func (v *vault) owner(number uint32) (string, []byte, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	switch {
	case v.closed:
		return "", nil, ErrBusy
	case v.users[number] == "":
		return "", nil, ErrToken
	}
	return v.users[number], Digest(v.secret[number]), nil
}

func (v *vault) issue(number uint32, user string) (text string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.users == nil {
		v.users, v.secret = map[uint32]string{}, map[uint32]string{}
	}
	v.users[number], v.secret[number] = user, NewSecret()
	return TokenText(number, v.secret[number])
}

func (v *vault) revoke(number uint32) {
	v.mu.Lock()
	defer v.mu.Unlock()
	delete(v.users, number)
}

// TestTokenText: what is no token is not taken for one.
func TestTokenText(t *testing.T) {
	secret := NewSecret()
	if number, got, ok := ParseToken(TokenText(7, secret)); !ok || number != 7 || got != secret || len(secret) < 40 {
		t.Error(number, got, ok)
	}
	for _, bad := range []string{"", "quill_", "quill_7", "quill_7_", "quill_0_x", "quill_07_x", "quill_+7_x",
		"quill_-7_x", "quill_4294967296_x", "quill__x",
		"Quill_7_x", " quill_7_x", "quill_7_" + string(make([]byte, tokenMax))} {
		if number, _, ok := ParseToken(bad); ok {
			t.Errorf("%q is token %d", bad, number)
		}
	}
	id := Identity{Role: User, Token: 7}
	if got, ok := ParseWord(id.Word()); !ok || got != id || !id.Known() {
		t.Errorf("%q is %s", id.Word(), got)
	}
	for _, bad := range []string{"t-", "t-0", "t-x", "t-07"} {
		if got, ok := ParseWord(bad); ok {
			t.Errorf("%q is %s", bad, got)
		}
	}
}

// TestToken has a client connect with a token in each way: it acts as the token's owner, the
// server finds the owner, and it is cut off when the token is revoked.
func TestToken(t *testing.T) {
	path := filepath.Join(t.TempDir(), "sock")
	v := &vault{closed: true}
	s := startServer(t, ServerOptions{Socket: path, Listen: "127.0.0.1:0", Tokens: v.owner})
	conn, err := s.Connect(qmaster)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	stop, err := conn.Serve(AllCmd, func(r *Request) { r.Answer([]byte(r.From.String())) })
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	feed := conn.NewFeed(EventsSubject(), frame.Point{Epoch: 1 << 32, Seq: 10})

	type client interface {
		Ask(context.Context, string, []byte) ([]byte, error)
		Close()
	}
	number := uint32(0)
	for name, open := range map[string]func(token string) (client, error){
		"line":    func(token string) (client, error) { return DialLocal(ConnOptions{Socket: path, Token: token}) },
		"socket":  func(token string) (client, error) { return Connect(ConnOptions{Socket: path, Token: token}) },
		"network": func(token string) (client, error) { return Connect(ConnOptions{URL: s.URL(), Token: token}) },
	} {
		number++
		v.close(true)
		token := v.issue(number, "alice")
		if _, err := open(token); name != "network" && !errors.Is(err, ErrBusy) || err == nil {
			t.Errorf("%s: before tokens are known: %v", name, err)
		}
		v.close(false)
		for _, wrong := range []string{TokenText(number, NewSecret()), TokenText(number+100, NewSecret()),
			"quill_x", "alice"} {
			if _, err := open(wrong); !errors.Is(err, ErrToken) || !errors.Is(err, ErrRefused) {
				t.Errorf("%s: with %q: %v", name, wrong, err)
			}
		}
		c, err := open(token)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		want := fmt.Sprintf("user alice with token %d", number)
		if answer, err := c.Ask(soon(t), "who", nil); string(answer) != want {
			t.Errorf("%s: %s %v, want %s", name, answer, err, want)
		}
		if conn, ok := c.(*Conn); ok {
			received := make(chan struct{}, 10)
			if _, err := conn.Subscribe(EventsSubject(), func(string, []byte) { received <- struct{}{} }); err != nil {
				t.Errorf("%s: events: %v", name, err)
			}
			feed.PublishHeartbeat()
			<-received
			for _, subject := range []string{FeedSubject(), "_INBOX_u-alice.>", "_INBOX_t-99.>"} {
				if _, err := conn.Subscribe(subject, func(string, []byte) {}); !errors.Is(err, ErrRefused) {
					t.Errorf("%s: reads %s: %v", name, subject, err)
				}
			}
			for _, other := range []Identity{{Role: User, Name: "alice"}, {Role: User, Token: 99}} {
				if _, err := conn.Request(soon(t), CmdSubject(other, "who"), nil); !errors.Is(err, ErrRefused) {
					t.Errorf("%s: asks as %s: %v", name, other, err)
				}
			}
		}
		v.revoke(number)
		for err == nil { // until the connection is closed
			var answer []byte
			answer, err = c.Ask(soon(t), "who", nil)
			if err == nil && name != "line" && string(answer) != fmt.Sprintf("user with token %d", number) {
				t.Fatalf("%s: answered as %s after the token was revoked", name, answer)
			}
		}
		if !errors.Is(err, ErrLost) {
			t.Errorf("%s: with a revoked token: %v", name, err)
		}
		c.Close()
		if _, err := open(token); !errors.Is(err, ErrToken) {
			t.Errorf("%s: connecting with a revoked token: %v", name, err)
		}
	}
}

// TestTokenQuota: a connection with a token counts for the token's owner, and not for the
// uid that has opened it.
func TestTokenQuota(t *testing.T) {
	path := filepath.Join(t.TempDir(), "sock")
	v := &vault{}
	alice, bob := v.issue(1, "alice"), v.issue(2, "bob")
	s := startServer(t, ServerOptions{Socket: path, Tokens: v.owner, Connections: 64})
	s.socket.distrustAll.Store(true)
	var open []*LocalConn
	fill := func(token string) (n int, err error) {
		for {
			l, err := DialLocal(ConnOptions{Socket: path, Token: token})
			if err == nil && !l.id.Known() {
				err = l.readAvailable()
			}
			if err != nil {
				return n, err
			}
			open = append(open, l)
			n++
		}
	}
	for _, token := range []string{alice, bob} {
		if n, err := fill(token); n != 16 || !errors.Is(err, ErrBusy) {
			t.Errorf("%d connections with %.7s: %v", n, token, err)
		}
	}
	// The refused ones counted for the uid until their tokens were read.
	testkit.Until(t, "the refused connections have ended", testkit.Patience,
		func() (bool, string) { return s.Connections() == 32, fmt.Sprint(s.Connections()) })
	if n, err := fill(""); n != 16 || !errors.Is(err, ErrBusy) {
		t.Errorf("%d connections of the uid: %v", n, err)
	}
	for _, l := range open {
		l.Close()
	}
	testkit.Until(t, "all connections have ended", testkit.Patience,
		func() (bool, string) { return s.Connections() == 0, fmt.Sprint(s.Connections()) })
}

// TestGuesses: after many wrong tokens refusals of that peer are delayed, those of others
// not, and no list grows without end.
func TestGuesses(t *testing.T) {
	var g guessLimiter
	now := time.Unix(1000, 0)
	for n := range 2 * guessesFree {
		if wait := g.countWrong("uid 1", now); (wait > 0) != (n >= guessesFree) {
			t.Errorf("wrong token %d is delayed by %v", n, wait)
		}
	}
	if wait := g.countWrong("uid 2", now); wait > 0 {
		t.Errorf("another peer waits %v", wait)
	}
	if wait := g.countWrong("uid 1", now.Add(guessWindow+1)); wait > 0 {
		t.Errorf("after the time it waits %v", wait)
	}
	for n := range 2 * guessersMax {
		g.countWrong(fmt.Sprint(n), now)
	}
	if len(g.of) != guessersMax {
		t.Errorf("%d peers are counted", len(g.of))
	}
	g.countWrong("late", now.Add(2*guessWindow+2))
	if len(g.of) != 1 {
		t.Errorf("%d peers are counted long after", len(g.of))
	}
}

// TestPenalty: a valid token is accepted at once after many wrong ones, and a server that
// stops waits for no penalty.
func TestPenalty(t *testing.T) {
	defer func(d time.Duration) { guessDelay = d }(guessDelay)
	guessDelay = time.Hour
	path := filepath.Join(t.TempDir(), "sock")
	v := &vault{}
	s := startServer(t, ServerOptions{Socket: path, Listen: "127.0.0.1:0", Tokens: v.owner})
	wrong := TokenText(1, NewSecret())
	for range guessesFree / 2 { // over loopback the network, too, knows the peer's uid
		if _, err := DialLocal(ConnOptions{Socket: path, Token: wrong}); !errors.Is(err, ErrToken) {
			t.Fatal(err)
		}
		if _, err := nats.Connect(s.URL(), nats.Token(wrong)); !errors.Is(err, nats.ErrAuthorization) {
			t.Fatal(err)
		}
	}
	refused := make(chan error, 1)
	go func() {
		_, err := DialLocal(ConnOptions{Socket: path, Token: wrong})
		refused <- err
	}()
	testkit.Until(t, "the client waits", testkit.Patience,
		func() (bool, string) { return s.Connections() == 1, fmt.Sprint(s.Connections()) })
	l, err := DialLocal(ConnOptions{Socket: path, Token: v.issue(1, "alice")})
	if err != nil {
		t.Fatal(err)
	}
	l.Close()
	s.Stop()
	if err := <-refused; err == nil {
		t.Error("connected with a wrong token")
	}
}
