package bus

import (
	"crypto/subtle"
	"errors"
	"sync"
	"time"
)

// identifyToken returns the identity of a token's text: its owner, who has no other role
// than User. It fails with ErrToken or ErrBusy.
func (g *authenticator) identifyToken(text string) (Identity, error) {
	number, secret, ok := ParseToken(text)
	if !ok || g.tokens == nil {
		return Identity{}, ErrToken
	}
	user, digest, err := g.tokens(number)
	if err != nil {
		return Identity{}, err
	}
	if user == "" || subtle.ConstantTimeCompare(Digest(secret), digest) != 1 {
		return Identity{}, ErrToken
	}
	return Identity{Role: User, Name: user, Token: number}, nil
}

// tokenUser returns the user who acts with a token now; "" when it is not valid.
func (g *authenticator) tokenUser(number uint32) string {
	if g.tokens == nil {
		return ""
	}
	user, _, err := g.tokens(number)
	if err != nil {
		return ""
	}
	return user
}

// revokedToken reports whether a connection's token is not valid any more.
func (g *authenticator) revokedToken(id Identity) bool {
	if id.Token == 0 {
		return false
	}
	_, _, err := g.tokens(id.Token)
	return errors.Is(err, ErrToken)
}

// guessLimiter counts the wrong tokens of each peer, a uid or a network address. Refusals
// beyond guessesFree within guessWindow are delayed; a valid token never is. So a gateway
// that passes on the wrong tokens of one of its clients does not lock out the others.
type guessLimiter struct {
	mu    sync.Mutex
	since time.Time // all are counted anew after guessWindow
	of    map[string]int
}

const (
	guessesFree = 10
	guessWindow = time.Minute
	guessersMax = 4096 // peers that are counted; the refusals of others are delayed
)

// guessDelay is less than helloWait; tests shorten it.
var guessDelay = time.Second

// countWrong counts a wrong token and returns how long its refusal is delayed.
func (g *guessLimiter) countWrong(peer string, now time.Time) time.Duration {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.of == nil || now.Sub(g.since) > guessWindow {
		g.since, g.of = now, map[string]int{}
	}
	n := g.of[peer]
	if n >= guessesFree || n == 0 && len(g.of) >= guessersMax {
		return guessDelay
	}
	g.of[peer]++
	return 0
}

// delayRefusal waits before a client is refused that presented a wrong token, if its peer has
// presented many. It ends at once when quit is closed.
func (g *authenticator) delayRefusal(peer string, why error, quit <-chan struct{}) {
	if !errors.Is(why, ErrToken) {
		return
	}
	wait := g.wrongTokens.countWrong(peer, time.Now())
	if wait == 0 {
		return
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-quit:
	}
}
