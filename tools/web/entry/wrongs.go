package entry

import (
	"net/http"
	"sync"
	"time"

	"github.com/quill-grid/quill/tools/web/problem"
)

// How many different wrong tokens and links are checked of one client within a time. The same one again is refused
// without a check and not counted, so that a program whose token has expired does not keep others at its address from
// logging in. A client whose token is valid and in use is never refused.
const (
	WrongFree   = 10
	wrongWindow = time.Minute
	clientsMost = 4096 // that are counted one by one
)

// wrongs are the wrong tokens and links of clients.
type wrongs struct {
	mu sync.Mutex
	of map[string]*wrong
}

// wrong is what one client has sent since a time: at most WrongFree different secrets.
type wrong struct {
	since time.Time
	what  map[digest]bool
}

// get returns what a client has sent; nil: nothing. Clients beyond clientsMost share one. It is called with mu held.
func (w *wrongs) get(client string, now time.Time, begin bool) *wrong {
	if w.of[client] == nil && len(w.of) >= clientsMost {
		w.forget(now)
		if len(w.of) >= clientsMost {
			client = ""
		}
	}
	one := w.of[client]
	if one != nil && now.Sub(one.since) >= wrongWindow {
		delete(w.of, client)
		one = nil
	}
	if one == nil && begin {
		one = &wrong{since: now, what: map[digest]bool{}}
		if w.of == nil {
			w.of = map[string]*wrong{}
		}
		w.of[client] = one
	}
	return one
}

// add counts a wrong token or link.
func (w *wrongs) add(client string, d digest, now time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if one := w.get(client, now, true); len(one.what) < WrongFree {
		one.what[d] = true
	}
}

// check returns whether a token or link is known to be wrong, or else how long its client has to wait before it is
// checked; 0: not at all.
func (w *wrongs) check(client string, d digest, now time.Time) (known bool, wait time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	one := w.get(client, now, false)
	switch {
	case one == nil:
		return false, 0
	case one.what[d]:
		return true, 0
	case len(one.what) < WrongFree:
		return false, 0
	}
	return false, one.since.Add(wrongWindow).Sub(now)
}

// sweep forgets what is older than the window.
func (w *wrongs) sweep(now time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.forget(now)
}

func (w *wrongs) forget(now time.Time) {
	for client, one := range w.of {
		if now.Sub(one.since) >= wrongWindow {
			delete(w.of, client)
		}
	}
}

func (w *wrongs) forgetAll() {
	w.mu.Lock()
	defer w.mu.Unlock()
	clear(w.of)
}

// none reports whether no client has sent anything wrong for a while.
func (w *wrongs) none() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.of) == 0
}

// checkTried returns why a token or link is not checked: ErrToken when it is known to be wrong, or *limited.
func (a *Authenticator) checkTried(r *http.Request, d digest) error {
	if a.wrongs.none() || a.accounts.accepted(d) {
		return nil
	}
	switch known, wait := a.wrongs.check(ClientOf(r), d, a.options.Now()); {
	case known:
		return ErrToken
	case wait > 0:
		return &problem.Limited{Wait: wait, Most: WrongFree}
	}
	return nil
}

// countFailure counts a wrong token or link.
func (a *Authenticator) countFailure(r *http.Request, d digest) {
	a.wrongs.add(ClientOf(r), d, a.options.Now())
}
