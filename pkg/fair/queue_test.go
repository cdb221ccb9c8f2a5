package fair

import (
	"fmt"
	"strings"
	"testing"
)

// TestTurns: users are served in turns, the requests of each in their order, and
// every second item is a daemon's while daemons wait.
func TestTurns(t *testing.T) {
	var q Queue[string]
	put := func(words string) {
		for _, w := range strings.Fields(words) {
			name := strings.TrimRight(w, "0123456789")
			q.Put(User{Name: name, Daemon: name == "schedd" || name == "node"}, w, len(w))
		}
	}
	drain := func(may func(User, int) bool) (out []string) {
		for {
			_, item, ok := q.NextOf(may)
			if !ok {
				return out
			}
			out = append(out, item)
		}
	}
	everybody := func(User, int) bool { return true }
	for _, c := range []struct{ put, want string }{
		{"", "[]"},
		{"a1 a2 a3 a4 b1 c1 c2", "[a1 b1 c1 a2 c2 a3 a4]"},
		{"a1 a2 a3 schedd1 node1 schedd2", "[schedd1 a1 node1 a2 schedd2 a3]"},
		{"schedd1 schedd2", "[schedd1 schedd2]"},
	} {
		q.daemon = false
		put(c.put)
		if got := fmt.Sprint(drain(everybody)); got != c.want {
			t.Errorf("%s: %s, not %s", c.put, got, c.want)
		}
		if q.Len() != 0 || q.Size() != 0 || len(q.users.byName)+len(q.daemons.byName) != 0 {
			t.Errorf("%s: something is left: %d, %d", c.put, q.Len(), q.Size())
		}
	}
	put("a1 a2 b1 b2")
	if items, size := q.Of(User{Name: "a"}); items != 2 || size != 4 {
		t.Errorf("a has %d items, %d bytes", items, size)
	}
	if got := fmt.Sprint(drain(func(u User, _ int) bool { return u.Name != "a" })); got != "[b1 b2]" {
		t.Errorf("without a: %s", got)
	}
	put("c1")
	if got := fmt.Sprint(drain(everybody)); got != "[a1 c1 a2]" {
		t.Errorf("afterwards: %s", got)
	}
}
