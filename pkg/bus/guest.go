package bus

import (
	"crypto/rand"
	"errors"
	"strings"
	"time"
)

// A guest is a client over the network without credentials. It may ask which identity provider there is, and exchange
// an ID token for a token: the rows of Guest in the table of rights. Its name is random, so that no other guest reads
// its answers.

const (
	guestPrefix = "guest_" // before the name, in place of a token
	guestName   = 26       // letters of rand.Text
)

// guestLife is how long the connection of a guest may last.
const guestLife = 2 * time.Minute

// NewGuest returns the identity of a client without credentials.
func NewGuest() Identity { return Identity{Role: Guest, Name: rand.Text()} }

var errNoGuests = errors.New("no credentials, and nobody can log in to this cell")

// identifyGuest returns the identity of a client that presents the name of a guest in place of a token; ok is false
// when it does not.
func (g *authenticator) identifyGuest(text string) (id Identity, ok bool, err error) {
	name, ok := strings.CutPrefix(text, guestPrefix)
	switch {
	case !ok:
		return Identity{}, false, nil
	case g.logIns == nil || !g.logIns():
		return Identity{}, true, errNoGuests
	case len(name) != guestName || strings.Trim(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567") != "":
		return Identity{}, true, errors.New("not the name of a guest")
	}
	return Identity{Role: Guest, Name: name}, true, nil
}
