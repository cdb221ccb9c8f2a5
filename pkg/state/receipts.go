package state

import (
	"cmp"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/pkg/grid"
)

// receipts is the order in which receipts are forgotten.
type receipts struct {
	byAge  tree[*grid.Receipt] // oldest first
	byUser tree[*grid.Receipt] // by user, oldest first
	held   tree[holding]       // what the receipts of each user take
}

// holding is how many bytes a user's receipts take.
type holding struct {
	user  string
	bytes int
}

func newReceipts() receipts {
	older := func(a, b *grid.Receipt) int { return cmp.Compare(a.At, b.At) }
	owner := func(a, b *grid.Receipt) int { return cmp.Compare(a.User, b.User) }
	name := func(a, b *grid.Receipt) int { return cmp.Compare(a.Request, b.Request) }
	return receipts{
		byAge:  newTree(func(a, b *grid.Receipt) bool { return cmp.Or(older(a, b), name(a, b), owner(a, b)) < 0 }),
		byUser: newTree(func(a, b *grid.Receipt) bool { return cmp.Or(owner(a, b), older(a, b), name(a, b)) < 0 }),
		held:   newTree(func(a, b holding) bool { return a.user < b.user }),
	}
}

func (r *receipts) copied() receipts {
	return receipts{r.byAge.copied(), r.byUser.copied(), r.held.copied()}
}

// count adds bytes to what a user's receipts take, and returns the sum.
func (r *receipts) count(user string, bytes int) int {
	h, _ := r.held.rows.Get(holding{user: user})
	h.user = user
	if h.bytes += bytes; h.bytes <= 0 {
		r.held.own().Delete(h)
	} else {
		r.held.own().Set(h)
	}
	return h.bytes
}

// keepReceipt follows the change of a receipt. When those of its user take more than a share the oldest of the same user
// are forgotten.
func (s *State) keepReceipt(e events.Event, old grid.Object) {
	q := &s.receipts
	if was, ok := old.(*grid.Receipt); ok {
		q.byAge.own().Delete(was)
		q.byUser.own().Delete(was)
		q.count(was.User, -was.Size())
	}
	r, ok := e.Object.(*grid.Receipt)
	if !ok || e.Op == events.OpDel {
		return
	}
	q.byAge.own().Load(r)
	q.byUser.own().Set(r)
	held := q.count(r.User, r.Size())
	for most := q.share(); held > most && e.Op != events.OpList; held = s.ReceiptBytes(r.User) { // a full state is as it was
		oldest, _ := q.byUser.rows.AtLeast(&grid.Receipt{User: r.User})
		s.apply(events.Del(grid.KindReceipt, oldest.Key()))
	}
}

// shareLeast is what a user has however many there are: several of the longest answers.
const shareLeast = 4 << 20

// share returns how many bytes the receipts of a user may take.
func (r *receipts) share() int {
	return max(shareLeast, min(grid.ReceiptBytes, grid.ReceiptsOfAll/max(r.held.rows.Len(), 1)))
}

// ReceiptBytes returns about how many bytes the receipts of a user take.
func (s *State) ReceiptBytes(user string) int {
	h, _ := s.receipts.held.rows.Get(holding{user: user})
	return h.bytes
}

// forgetReceipts drops those whose time is over, by the time of the lists.
func (s *State) forgetReceipts() {
	for {
		oldest, any := s.receipts.byAge.rows.Min()
		if !any || s.At.Sub(oldest.At) <= grid.ReceiptSeconds {
			return
		}
		s.apply(events.Del(grid.KindReceipt, oldest.Key()))
	}
}

// Receipt returns the receipt of a user's request, nil when there is none.
func (s *State) Receipt(user, request string) *grid.Receipt {
	return get[grid.Receipt](s, grid.KindReceipt, grid.ReceiptKey(user, request))
}
