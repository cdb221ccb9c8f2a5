package fair

import "slices"

// Queue holds what waits, by user. The zero value is empty.
type Queue[T any] struct {
	users, daemons ring[T]
	daemon         bool // the last item was a daemon's
}

// User is the owner of items. A daemon and a user of the same name are not the
// same.
type User struct {
	Name   string
	Daemon bool
}

// ring is the users who have something waiting; the first is the next to be served.
type ring[T any] struct {
	byName map[string]*line[T]
	order  []*line[T]
	size   int
	items  int
}

// line is what waits for one user.
type line[T any] struct {
	user  User
	items []entry[T]
	size  int
}

type entry[T any] struct {
	item T
	size int
}

func (q *Queue[T]) ring(u User) *ring[T] {
	if u.Daemon {
		return &q.daemons
	}
	return &q.users
}

// Put adds an item of the given size, in any unit, after the user's others.
func (q *Queue[T]) Put(u User, item T, size int) {
	r := q.ring(u)
	l := r.byName[u.Name]
	if l == nil {
		if r.byName == nil {
			r.byName = make(map[string]*line[T])
		}
		l = &line[T]{user: u}
		r.byName[u.Name] = l
		r.order = append(r.order, l)
	}
	l.items = append(l.items, entry[T]{item, size})
	l.size += size
	r.size += size
	r.items++
}

// Next removes the item whose turn it is and returns it with its user; false if
// nothing waits.
func (q *Queue[T]) Next() (u User, item T, ok bool) {
	return q.NextOf(func(User, int) bool { return true })
}

// NextOf is Next among the users that may be served now, with an item of that size; the others keep their turn.
func (q *Queue[T]) NextOf(may func(u User, size int) bool) (u User, item T, ok bool) {
	first, second := &q.daemons, &q.users
	if q.daemon {
		first, second = second, first
	}
	for _, r := range []*ring[T]{first, second} {
		if u, item, ok = r.next(may); ok {
			q.daemon = u.Daemon
			return u, item, true
		}
	}
	return u, item, false
}

func (r *ring[T]) next(may func(User, int) bool) (u User, item T, ok bool) {
	for i, l := range r.order {
		if !may(l.user, l.items[0].size) {
			continue
		}
		e := l.items[0]
		l.items[0] = entry[T]{} // so that it is not kept alive
		l.items = l.items[1:]
		l.size -= e.size
		r.size -= e.size
		r.items--
		copy(r.order[i:], r.order[i+1:])
		r.order[len(r.order)-1] = l
		r.drop(len(r.order) - 1)
		return l.user, e.item, true
	}
	return u, item, false
}

// drop removes a user if nothing of that user waits.
func (r *ring[T]) drop(i int) {
	if l := r.order[i]; len(l.items) == 0 {
		r.order = slices.Delete(r.order, i, i+1)
		delete(r.byName, l.user.Name)
	}
}

// Remove removes the first of a user's items that a test chooses, and reports whether there is one.
func (q *Queue[T]) Remove(u User, is func(T) bool) bool {
	r := q.ring(u)
	l := r.byName[u.Name]
	if l == nil {
		return false
	}
	i := slices.IndexFunc(l.items, func(e entry[T]) bool { return is(e.item) })
	if i < 0 {
		return false
	}
	size := l.items[i].size
	l.items = slices.Delete(l.items, i, i+1)
	l.size -= size
	r.size -= size
	r.items--
	r.drop(slices.Index(r.order, l))
	return true
}

// Len is the number of items.
func (q *Queue[T]) Len() int { return q.users.items + q.daemons.items }

// Size is the sum of the sizes of all items.
func (q *Queue[T]) Size() int { return q.users.size + q.daemons.size }

// Of returns the number of a user's items and the sum of their sizes.
func (q *Queue[T]) Of(u User) (items, size int) {
	l := q.ring(u).byName[u.Name]
	if l == nil {
		return 0, 0
	}
	return len(l.items), l.size
}
