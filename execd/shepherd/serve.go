package shepherd

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"slices"
	"time"

	"golang.org/x/sys/unix"
)

func (k *shepherd) accept(l net.Listener) {
	said := ""
	for {
		c, err := l.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil {
			if text := err.Error(); text != said {
				k.logf("accept, trying again: %v", err)
				said = text
			}
			time.Sleep(time.Second) // out of descriptors
			continue
		}
		said = ""
		if !k.trusts(c) {
			c.Close()
			continue
		}
		go k.serve(c)
	}
}

// trusts reports whether a uid may connect: root and the shepherd's own user, since a client can run programs as any job owner.
func (k *shepherd) trusts(c net.Conn) bool {
	peer, err := credentialsOf(c.(*net.UnixConn))
	return err == nil && (peer.Uid == 0 || peer.Uid == k.uid)
}

// credentialsOf returns the process at the other end of a connection.
func credentialsOf(c *net.UnixConn) (peer *unix.Ucred, err error) {
	raw, err := c.SyscallConn()
	if err != nil {
		return nil, err
	}
	if e := raw.Control(func(fd uintptr) { peer, err = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED) }); e != nil {
		err = e
	}
	return peer, err
}

// conn is one execd.
type conn struct{ out *outbox[reply] }

func (k *shepherd) serve(c net.Conn) {
	peer := &conn{newOutbox(c, replyFields)}
	k.mu.Lock()
	if ended := k.list(func(a *attempt) bool { return a.now.State == Ended }); len(ended) > 0 {
		peer.out.send(reply{Attempts: ended})
	}
	k.conns[peer] = struct{}{}
	k.mu.Unlock()

	in := newInbox(c, requestFields)
	for {
		r, err := in.next()
		if err != nil {
			break
		}
		k.handle(peer, &r)
	}
	k.mu.Lock()
	delete(k.conns, peer)
	k.mu.Unlock()
	peer.out.close()
}

func (k *shepherd) handle(peer *conn, r *request) {
	answer := reply{ID: r.ID}
	switch r.Verb {
	case verbStart:
		k.start(peer, r)
		return // answers when journaled
	case verbSignal:
		answer.Keys = k.signal(r.Signal, r.Keys)
	case verbList:
		k.mu.Lock()
		answer.Attempts = k.list(func(*attempt) bool { return true })
		k.mu.Unlock()
	case verbUsage:
		answer.Keys, answer.Usage = k.usage(r.Keys)
	case verbForget:
		k.journal.add(false, func(err error) {
			if err != nil {
				answer.Error = err.Error()
			}
			peer.out.send(answer)
		}, record{Forget: k.forget(r.Keys)})
		return
	case verbShutdown:
		go func() { // others go on meanwhile
			if err := k.stop(r.Force); err != nil {
				answer.Error = err.Error()
			}
			peer.out.send(answer)
			if answer.Error == "" {
				k.leave()
			}
		}()
		return
	default:
		answer.Error = fmt.Sprintf("shepherd: unknown request %d", r.Verb)
	}
	peer.out.send(answer)
}

// start journals the new attempts of a batch, then lets them live, then answers; what cannot be journaled is refused.
// Answers about keys already known wait in the same queue, so that no answer speaks of a record that may yet be lost.
func (k *shepherd) start(peer *conn, r *request) {
	answers := make([]Answer, len(r.Plans))
	var fresh []*attempt
	var at []int // of fresh in answers
	var begins []record
	now := time.Now()
	k.mu.Lock()
	if k.closing {
		k.mu.Unlock()
		peer.out.send(reply{ID: r.ID, Error: "shepherd: shutting down"}) // of the call, not of a plan: the next shepherd starts them
		return
	}
	for i := range r.Plans {
		p := &r.Plans[i]
		answers[i].Key = p.Key
		if known := k.attempts[p.Key]; known != nil {
			answers[i].State = known.now.State
			continue
		}
		if err := p.check(k.uid); err != nil {
			answers[i].Error = err.Error()
			continue
		}
		a := k.attemptOf(*p, r.Durable)
		a.begin = &begin{p.Key, now, k.boot, p.Spool, p.Cgroup, p.leavings()}
		k.left = without(k.left, a.begin.Remove)
		k.attempts[p.Key] = a
		k.running++
		answers[i].State = Starting
		fresh, at = append(fresh, a), append(at, i)
		begins = append(begins, record{Begin: a.begin})
	}
	k.mu.Unlock()
	k.journal.add(r.Durable, func(err error) {
		if err != nil {
			k.mu.Lock()
			for i, a := range fresh {
				delete(k.attempts, a.key)
				k.running--
				answers[at[i]] = Answer{Key: a.key, Error: fmt.Sprintf("journal: %v", err)}
			}
			k.mu.Unlock()
			peer.out.send(reply{ID: r.ID, Answers: answers})
			return
		}
		for _, a := range fresh {
			go a.live()
		}
		peer.out.send(reply{ID: r.ID, Answers: answers})
	}, begins...)
}

func (k *shepherd) signal(s Signal, keys []Key) (gone []Key) {
	for _, key := range keys {
		k.mu.Lock()
		a := k.attempts[key]
		over := a == nil || a.now.State == Ended
		k.mu.Unlock()
		if over {
			gone = append(gone, key)
			continue
		}
		a.order(order{signal: s})
	}
	return gone
}

// list returns the attempts that f selects in the order of their keys. Called with mu held.
func (k *shepherd) list(f func(*attempt) bool) []Attempt {
	var list []Attempt
	for _, a := range k.attempts {
		if f(a) {
			list = append(list, a.now)
		}
	}
	slices.SortFunc(list, func(x, y Attempt) int {
		return cmp.Or(cmp.Compare(x.Key.Job, y.Key.Job), cmp.Compare(x.Key.Task, y.Key.Task),
			cmp.Compare(x.Key.Attempt, y.Key.Attempt), cmp.Compare(x.Key.PETask, y.Key.PETask))
	})
	return list
}

func (k *shepherd) usage(keys []Key) (found []Key, used []Usage) {
	k.mu.Lock()
	defer k.mu.Unlock()
	add := func(a *attempt) {
		found = append(found, a.key)
		if a.now.State == Ended {
			used = append(used, a.now.End.Usage)
		} else {
			used = append(used, a.used.total())
		}
	}
	for _, key := range keys {
		if a := k.attempts[key]; a != nil {
			add(a)
		}
	}
	if len(keys) == 0 {
		for _, a := range k.attempts {
			if a.now.State != Ended {
				add(a)
			}
		}
	}
	return found, used
}

func (k *shepherd) forget(keys []Key) (forgotten []Key) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, key := range keys {
		if a := k.attempts[key]; a != nil && a.now.State == Ended {
			delete(k.attempts, key)
			forgotten = append(forgotten, key)
		}
	}
	return forgotten
}
