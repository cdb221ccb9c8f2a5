package gridserver

import "math/big"

// quota is what SLA groups have a claim to: targets and needs, and what
// remains beyond; or, when engines are short, a share.
type quota struct {
	target, need []int
	enough       bool
	remaining    int
	extra        []int      // of active groups, when there are enough
	share        []int      // ... when there are not
	total        *big.Rat   // sum of the active groups' values
	engines      int        // E
	values       []*big.Rat // by group
}

// newQuota divides engines among groups of such values and demands. A group
// without demand has no claim.
func newQuota(engines int, values []weight, demand []int) *quota {
	n := len(values)
	q := &quota{target: make([]int, n), need: make([]int, n), extra: make([]int, n), share: make([]int, n),
		total: new(big.Rat), engines: engines}
	all, one := new(big.Rat).SetInt64(int64(engines)), big.NewRat(1, 1)
	needed := 0
	for i, v := range values {
		q.values = append(q.values, v.Rat)
		if v.Cmp(one) >= 0 {
			q.target[i] = ceil(v.Rat)
		} else {
			q.target[i] = ceil(new(big.Rat).Mul(v.Rat, all))
		}
		if demand[i] > 0 {
			q.need[i] = min(q.target[i], demand[i])
			needed += q.need[i]
			q.total.Add(q.total, v.Rat)
		}
	}
	if q.enough = needed <= engines; q.enough {
		q.remaining = engines - needed
		q.divide(demand)
		return q
	}
	for i := range values {
		if demand[i] > 0 {
			q.share[i] = min(ceil(q.portion(engines, i, q.total)), demand[i])
		}
	}
	return q
}

// divide splits what remains among the groups that could use more than they
// need, rounded up.
func (q *quota) divide(demand []int) {
	sum := new(big.Rat)
	for i, v := range q.values {
		if demand[i] > q.need[i] {
			sum.Add(sum, v)
		}
	}
	for i := range q.values {
		if demand[i] > q.need[i] {
			q.extra[i] = min(ceil(q.portion(q.remaining, i, sum)), demand[i]-q.need[i])
		}
	}
}

// portion is a group's part of some engines by its value.
func (q *quota) portion(engines, group int, sum *big.Rat) *big.Rat {
	x := new(big.Rat).SetInt64(int64(engines))
	return x.Quo(x.Mul(x, q.values[group]), sum)
}

// claim is what a group may take from others: what it needs; when engines are
// short, its share rounded down.
func (q *quota) claim(group, demand int) int {
	if q.enough || q.total.Sign() == 0 {
		return q.need[group]
	}
	return min(floor(q.portion(q.engines, group, q.total)), demand)
}

// keep is what no other group may take from a group.
func (q *quota) keep(group int) int {
	if q.enough {
		return q.need[group]
	}
	return q.share[group]
}

// bySLA is an episode of mode sla: what groups need, then what remains, then
// what is left.
func (r *run) bySLA() {
	demand := make([]int, len(r.weights))
	queues := make([]*queue, len(r.weights))
	count := make([]int, len(r.weights))
	for g := range r.weights {
		demand[g], count[g] = r.m.bands[g].demand, r.m.bands[g].running
	}
	r.quota = newQuota(r.engines, r.weights, demand)
	if r.full() {
		return
	}
	for g := range r.weights {
		queues[g] = r.queueOf(band(g))
	}
	q := r.quota
	if q.enough {
		r.rounds(queues, count, slaPhase, func(g int) bool { return count[g] < q.need[g] })
		r.rounds(queues, count, remainderPhase, func(g int) bool { return count[g] < q.need[g]+q.extra[g] })
	} else {
		r.rounds(queues, count, sharePhase, func(g int) bool { return count[g] < q.share[g] })
	}
	r.rounds(queues, count, remainderPhase, func(int) bool { return true })
}

// rounds gives one engine to each session in turn while its group may have
// more.
func (r *run) rounds(queues []*queue, count []int, p phase, open func(group int) bool) {
	for again := true; again && !r.full(); {
		again = false
		at := make([]int, len(queues))
		for _, q := range queues {
			q.compact()
		}
		for !r.full() {
			c := first(queues, at, open)
			if c == nil {
				break
			}
			at[c.band]++
			if r.assignEngine(c, p) {
				count[c.band]++
				again = true
			}
		}
	}
}

// first is the next in order of those whose group may have more.
func first(queues []*queue, at []int, open func(group int) bool) (best *candidate) {
	for g, q := range queues {
		if !open(g) {
			continue
		}
		if c := q.seen(at[g]); c != nil && (best == nil || c.before(best)) {
			best = c
		}
	}
	return best
}
