package fair

import (
	"context"
	"errors"
	"fmt"
	"testing"
)

// TestPlaces: one user cannot take all, users together cannot take what daemons need, and who leaves makes room.
func TestPlaces(t *testing.T) {
	p := NewPlaces("test", Limits{Total: 8, User: 3, Reserve: 2})
	enter := func(u User) (n int) {
		for p.Enter(u, 1) == nil {
			n++
		}
		return n
	}
	a, b, c, d := User{Name: "a"}, User{Name: "b"}, User{Name: "c"}, User{Name: "d", Daemon: true}
	if got := fmt.Sprint(enter(a), enter(b), enter(c), enter(d), enter(d)); got != "3 3 0 2 0" {
		t.Errorf("they have %s", got)
	}
	if full := (*Full)(nil); !errors.As(p.Enter(a, 1), &full) || !full.Own || full.Most != 3 {
		t.Errorf("a: %v", full)
	}
	if full := (*Full)(nil); !errors.As(p.Enter(c, 1), &full) || full.Own {
		t.Errorf("c: %v", full)
	}
	if p.Leave(a, 1); enter(c) != 1 || p.Count() != 8 || p.Of(a) != 2 {
		t.Errorf("after one has left: %d, of a %d", p.Count(), p.Of(a))
	}
}

// TestPlacesWait: waiting users are served in turns, a daemon beside them, a large request is not passed by small ones
// for ever, and what was cancelled is not in the way.
func TestPlacesWait(t *testing.T) {
	p := NewPlaces("test", Limits{Total: 4, User: 2, Waiting: 3})
	var order []string
	leave := map[string]func(){}
	join := func(user string, name string, n int) func() bool {
		cancel, err := p.Join(User{Name: user, Daemon: user == "daemon"}, n, func(l func()) {
			order = append(order, name)
			leave[name] = l
		})
		if err != nil {
			order = append(order, name+" refused")
		}
		return cancel
	}
	check := func(want string) {
		t.Helper()
		if got := fmt.Sprint(order); got != want {
			t.Errorf("%s, not %s", got, want)
		}
		order = nil
	}
	join("a", "a1", 1)
	join("a", "a2", 1)
	join("a", "a3", 1)
	gone := join("a", "a4", 1)
	join("a", "a5", 1)
	join("a", "a6", 1)
	check("[a1 a2 a6 refused]")
	join("b", "b1", 1)
	check("[b1]")
	join("c", "c1", 9) // as much as it may: 2
	join("d", "d1", 1)
	check("[]") // it came after c
	if !gone() || gone() {
		t.Error("a4 did not wait once")
	}
	leave["b1"]()
	check("[c1]")
	leave["a1"]()
	check("[a3]") // a3 waits for longer than d1
	leave["a1"]() // again: nothing
	check("[]")
	leave["c1"]()
	check("[d1]")
	leave["a2"]()
	check("[a5]")
	for _, name := range []string{"a3", "a5", "d1"} {
		leave[name]()
	}
	if p.Count() != 0 || len(p.of) != 0 || p.waiting.Len() != 0 {
		t.Errorf("something is left: %d, %v", p.Count(), p.of)
	}
}

// TestPlacesGone: a client that has gone while it waited has no place, and keeps none.
func TestPlacesGone(t *testing.T) {
	p := NewPlaces("test", Limits{Total: 1, Waiting: 10})
	a, b := User{Name: "a"}, User{Name: "b"}
	leave, err := p.Wait(t.Context(), a, 1)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for range 20 {
		if _, err := p.Wait(ctx, a, 1); !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
	}
	leave()
	if leave, err = p.Wait(t.Context(), b, 1); err != nil {
		t.Fatal(err)
	}
	leave()
	if p.Count() != 0 {
		t.Error(p.Count())
	}
}
