package bus

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"
)

// A token is a credential that a client presents in place of its process or its key, over
// the socket and over the network: the text quill_NUMBER_SECRET. Whose it is, and whether it
// is valid, is known to the owner of the log, who has the number and a digest of the secret.

// TokenOwner returns the user whose token it is and the digest of its secret. It fails
// with ErrToken when the token is not valid, and with ErrBusy when that is not known yet.
type TokenOwner func(number uint32) (user string, digest []byte, err error)

// ErrToken means that a token is wrong, has expired or was revoked.
var ErrToken = fmt.Errorf("%w: the token is wrong, has expired or was revoked", ErrRefused)

const (
	tokenPrefix = "quill_"
	secretBytes = 32
	tokenMax    = 256 // bytes of a text
)

// NewSecret returns the secret of a new token.
func NewSecret() string {
	var b [secretBytes]byte
	rand.Read(b[:])
	return base64.RawURLEncoding.EncodeToString(b[:])
}

// Digest returns what the owner of the log stores of a secret.
func Digest(secret string) []byte {
	sum := sha256.Sum256([]byte(secret))
	return sum[:]
}

// TokenText returns the token of that number and secret.
func TokenText(number uint32, secret string) string {
	return tokenPrefix + strconv.FormatUint(uint64(number), 10) + "_" + secret
}

// ParseToken undoes TokenText; false: the text is no token.
func ParseToken(text string) (number uint32, secret string, ok bool) {
	rest, ok := strings.CutPrefix(text, tokenPrefix)
	if !ok || len(text) > tokenMax {
		return 0, "", false
	}
	digits, secret, ok := strings.Cut(rest, "_")
	if !ok || secret == "" {
		return 0, "", false
	}
	number, ok = parseTokenNumber(digits)
	return number, secret, ok
}

// parseTokenNumber reads a number as TokenText and Word write it.
func parseTokenNumber(digits string) (uint32, bool) {
	n, err := strconv.ParseUint(digits, 10, 32)
	return uint32(n), err == nil && digits[0] >= '1' && digits[0] <= '9'
}

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
