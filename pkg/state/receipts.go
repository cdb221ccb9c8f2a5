package state

import (
	"cmp"
	"slices"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/pkg/grid"
)

// receipts is the order in which receipts are forgotten.
type receipts struct {
	queue     []*grid.Receipt // as they came; some were replaced
	unordered bool            // they are not oldest first
	held      tree[holding]   // what the receipts of each user take
}

// holding is how many bytes a user's receipts take.
type holding struct {
	user  string
	bytes int
}

func newReceipts() receipts {
	return receipts{held: newTree(func(a, b holding) bool { return a.user < b.user })}
}

func (r *receipts) copied() receipts {
	return receipts{slices.Clip(r.queue), r.unordered, r.held.copied()}
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

// keepReceipt follows the change of a receipt. When those of its user take more than a share the oldest of the same
// user are forgotten.
func (s *State) keepReceipt(e events.Event, old grid.Object) {
	q := &s.receipts
	if was, ok := old.(*grid.Receipt); ok {
		q.count(was.User, -was.Size())
	}
	r, ok := e.Object.(*grid.Receipt)
	if !ok || e.Op == events.OpDel {
		return
	}
	if n := len(q.queue); n > 0 && r.At < q.queue[n-1].At { // they come oldest first, but for those of a full state
		q.unordered = true
	}
	q.queue = append(q.queue, r)
	if held := q.count(r.User, r.Size()); e.Op != events.OpList && held > q.share() { // a full state is as it was
		s.evictReceipts(r.User, held-q.share()/4*3)
	}
}

// evictReceipts forgets the oldest receipts of a user, of so many bytes: a quarter of a share, so that the queue is
// seldom gone through.
func (s *State) evictReceipts(user string, bytes int) {
	s.sortReceipts()
	rest := make([]*grid.Receipt, 0, len(s.receipts.queue))
	for _, r := range s.receipts.queue {
		if r.User != user || bytes <= 0 || s.Receipt(r.User, r.Request) != r {
			rest = append(rest, r)
			continue
		}
		bytes -= r.Size()
		s.apply(events.Del(grid.KindReceipt, r.Key()))
	}
	s.receipts.queue = rest
}

// sortReceipts puts receipts in the order of their age.
func (s *State) sortReceipts() {
	if q := &s.receipts; q.unordered {
		q.queue = slices.SortedStableFunc(slices.Values(q.queue),
			func(a, b *grid.Receipt) int { return cmp.Compare(a.At, b.At) })
		q.unordered = false
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
	s.sortReceipts()
	for q := &s.receipts; len(q.queue) > 0 && s.At.Sub(q.queue[0].At) > grid.ReceiptSeconds; q.queue = q.queue[1:] {
		if r := q.queue[0]; s.Receipt(r.User, r.Request) == r { // else it was replaced
			s.apply(events.Del(grid.KindReceipt, r.Key()))
		}
	}
}

// Receipt returns the receipt of a user's request, nil when there is none.
func (s *State) Receipt(user, request string) *grid.Receipt {
	return get[grid.Receipt](s, grid.KindReceipt, grid.ReceiptKey(user, request))
}
