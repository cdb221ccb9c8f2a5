package userdb

import (
	"errors"
	"fmt"
	"os/user"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// database is a user database that can stop answering, or fail.
type database struct {
	uids  map[string]int
	asked atomic.Int32
	hangs chan struct{} // until it is closed; nil: it answers
	fails bool
}

func (d *database) lookUpUID(name string) (int, error) {
	d.asked.Add(1)
	if d.hangs != nil {
		<-d.hangs
	}
	if uid, ok := d.uids[name]; ok && !d.fails {
		return uid, nil
	}
	if d.fails {
		return 0, errors.New("connection refused")
	}
	return 0, user.UnknownUserError(name)
}

// TestCache: accounts are served for a minute, names without one for ten seconds. A database that does not answer keeps
// no caller waiting longer than Patience: a known user is served as before, another one when it has answered. A failure
// is no answer.
func TestCache(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &database{uids: map[string]int{"alice": 1}}
		c := Cache[string, int]{Look: d.lookUpUID, Patience: time.Second}
		begun := time.Now()
		want := func(name, what string, took time.Duration, asked int32) {
			t.Helper()
			before := time.Now()
			uid, err := c.Get(name)
			got := fmt.Sprint(uid)
			if err != nil {
				got = err.Error()
			}
			if d := time.Since(before); got != what || d != took {
				t.Errorf("after %v: %s is %q in %v, not %q in %v", before.Sub(begun), name, got, d, what, took)
			}
			if n := d.asked.Load(); n != asked {
				t.Errorf("after %v: the database was asked %d times, not %d", before.Sub(begun), n, asked)
			}
		}
		want("alice", "1", 0, 1)
		want("alice", "1", 0, 1)
		want("bob", "user: unknown user bob", 0, 2)
		time.Sleep(UnknownKept / 2)
		want("bob", "user: unknown user bob", 0, 2)
		d.uids["bob"] = 2
		time.Sleep(UnknownKept)
		want("bob", "2", 0, 3)

		time.Sleep(Kept + time.Second)
		d.hangs = make(chan struct{})
		d.uids["alice"] = 11
		want("alice", "1", time.Second, 4)
		want("alice", "1", time.Second, 4)
		want("carol", ErrSlow.Error(), time.Second, 5)
		d.uids["carol"] = 3
		close(d.hangs)
		synctest.Wait()
		d.hangs = nil
		want("alice", "11", 0, 5)
		want("carol", "3", 0, 5)

		time.Sleep(Kept + time.Second)
		d.fails = true
		want("alice", "11", 0, 6)
		want("dave", "connection refused", 0, 7)
		time.Sleep(UnknownKept + time.Second)
		d.fails = false
		delete(d.uids, "alice")
		d.uids["dave"] = 4
		want("alice", "user: unknown user alice", 0, 8)
		want("dave", "4", 0, 9)
	})
}
