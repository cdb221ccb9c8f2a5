package qmaster

import (
	"crypto/x509"
	"fmt"
	"sync"
	"time"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/pkg/bus"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/state"
)

// access is what the server has to know of the durable state to authenticate clients: tokens, how users log in, and who
// is privileged. Whether a request may be made with a token is decided by the core.
type access struct {
	mu         sync.RWMutex
	tokens     map[uint32]*grid.Token // nil: the state is not recovered yet
	logins     grid.Logins
	privileged map[privilege]bool
}

// privilege is that of a manager or an operator.
type privilege struct {
	kind grid.Kind
	user string
}

// begin takes what the recovered state has.
func (a *access) begin(s *state.State) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.tokens, a.privileged = make(map[uint32]*grid.Token), make(map[privilege]bool)
	for _, one := range s.Tokens() {
		a.tokens[one.ID] = one
	}
	for _, kind := range []grid.Kind{grid.KindManager, grid.KindOperator} {
		s.Each(kind, func(o grid.Object) bool {
			a.privileged[privilege{kind, o.Key().Name}] = true
			return true
		})
	}
	if c := s.Conf(grid.GlobalConf); c != nil {
		a.logins, _ = c.Logins()
	}
}

// after returns what happens when a list is durable: the changes in it, then
// leave, which may be nil.
func (a *access) after(l events.List, leave func()) func() {
	var changed []events.Event
	for _, e := range l.Events {
		switch e.Kind {
		case grid.KindToken, grid.KindManager, grid.KindOperator, grid.KindConf:
			changed = append(changed, e)
		}
	}
	if changed == nil {
		return leave
	}
	return func() {
		a.change(changed)
		if leave != nil {
			leave()
		}
	}
}

func (a *access) change(es []events.Event) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, e := range es {
		switch e.Kind {
		case grid.KindToken:
			if one, ok := e.Object.(*grid.Token); ok {
				a.tokens[one.ID] = one
			} else {
				delete(a.tokens, e.Key.ID)
			}
		case grid.KindConf:
			if c, ok := e.Object.(*grid.Conf); ok && c.Host == grid.GlobalConf {
				a.logins, _ = c.Logins() // the core has checked it
			}
		default:
			if e.Object != nil {
				a.privileged[privilege{e.Kind, e.Key.Name}] = true
			} else {
				delete(a.privileged, privilege{e.Kind, e.Key.Name})
			}
		}
	}
}

// owner is a bus.TokenOwner.
func (a *access) owner(number uint32) (user string, digest []byte, err error) {
	a.mu.RLock()
	defer a.mu.RUnlock()
	one := a.tokens[number]
	switch {
	case a.tokens == nil:
		return "", nil, bus.ErrBusy
	case one == nil || one.Expires <= grid.TimeOf(time.Now()):
		return "", nil, bus.ErrToken
	}
	return one.Owner, one.Digest, nil
}

// ways returns how users log in.
func (a *access) ways() grid.Logins {
	a.mu.RLock()
	defer a.mu.RUnlock()
	return a.logins
}

// admitsGuests reports whether a client without credentials can log in.
func (a *access) admitsGuests() bool {
	l := a.ways()
	return l.Issuer != "" || l.Cert != ""
}

// certUser is a bus.CertUser.
func (a *access) certUser(cert *x509.Certificate) (user string, mapped bool, err error) {
	a.mu.RLock()
	defer a.mu.RUnlock()
	l := a.logins
	switch {
	case a.tokens == nil:
		return "", false, bus.ErrBusy
	case l.Cert == "":
		return "", false, nil
	}
	user, ok := grid.CertUser(l.Cert, bus.CertValues(cert))
	if !ok {
		return "", true, fmt.Errorf("the certificate of %s names no user by LOGIN_CERT=%s", cert.Subject, l.Cert)
	}
	if !l.Admits(user, a.privileged[privilege{grid.KindManager, user}] ||
		a.privileged[privilege{grid.KindOperator, user}]) {
		return "", true,
			fmt.Errorf("the certificate of %s names %s, who is root, a manager or an operator, and not in LOGIN_PRIVILEGED",
				cert.Subject, user)
	}
	return user, true, nil
}
