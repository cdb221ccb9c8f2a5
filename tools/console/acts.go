package console

import (
	"crypto/rand"
	"net/http"
	"slices"
	"sync"
)

// Bounds of the actions that are kept, of a user and of all: the oldest make room.
const (
	actsOfUser = 4 << 20 // bytes
	actsOfAll  = 64 << 20
	actSize    = 300 // of an action and of each word of it, about
)

// acts are the last actions that users were asked about, the oldest first.
type acts struct {
	mu   sync.Mutex
	kept []*keptAct
}

// keptAct is an action; mu is held while it is carried out.
type keptAct struct {
	key, user string // as the confirmation has them
	size      int

	mu sync.Mutex
	confirmation
}

// add stores an action under a new key.
func (s *acts) add(a *confirmation) (key string) {
	a.Key = rand.Text()
	size := actSize + len(a.Back)
	for _, ref := range a.Refs {
		size += actSize + len(ref) // with its outcome
	}
	for _, d := range a.Differences {
		size += actSize + len(d.Text) + len(d.Was)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.kept = append(s.kept, &keptAct{key: a.Key, user: a.User, size: size, confirmation: *a})
	s.bound(actsOfUser, func(k *keptAct) bool { return k.user == a.User })
	s.bound(actsOfAll, func(*keptAct) bool { return true })
	return a.Key
}

// bound removes the oldest of some actions until they take no more than most bytes. It is called with mu held.
func (s *acts) bound(most int, is func(*keptAct) bool) {
	sum := 0
	for _, k := range s.kept {
		if is(k) {
			sum += k.size
		}
	}
	s.kept = slices.DeleteFunc(s.kept, func(k *keptAct) bool {
		if sum <= most || !is(k) {
			return false
		}
		sum -= k.size
		return true
	})
}

// find returns an action of a user. The error is a *Problem.
func (s *acts) find(user, key string) (*keptAct, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, k := range s.kept {
		if k.key == key && k.user == user {
			return k, nil
		}
	}
	return nil, &Problem{Status: http.StatusNotFound,
		Text: "This action is not known any more, and this request has done nothing. The log has what was done before; choose the action again if need be."}
}
