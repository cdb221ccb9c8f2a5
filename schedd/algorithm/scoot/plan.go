package scoot

// share is a class in one run: what it may have, has, waits for and gets.
// A class of zero percent neither runs nor waits for anything.
type share struct {
	class            string
	percent, target  int
	running, waiting int
	start            int // negative: so many stop
}

// plan divides the workers. The shares are in order: the largest percentage
// first. Everything is in whole numbers; / rounds down.
type plan struct {
	workers int
	shares  []share
	phases  []phase
}

// phase is a step of a plan: who had which percentage of the idle workers and
// was given how many.
type phase struct {
	name           string
	idle           int
	percent, given []int
}

const (
	entitlementPhase = "entitlement"
	loanPhase        = "loan"
)

// newPlan sets the targets: the largest class takes what rounding leaves.
func newPlan(workers int, shares []share) *plan {
	p := &plan{workers: workers, shares: shares}
	rest := workers
	for i := range shares {
		if shares[i].percent == 0 {
			shares[i].running, shares[i].waiting = 0, 0
		}
		shares[i].target = workers * shares[i].percent / 100
		rest -= shares[i].target
	}
	shares[0].target += rest
	return p
}

// spread is how far the classes that run too much, or have tasks waiting, lie
// apart, in percent points of the workers; zero is always between them.
func (p *plan) spread() int {
	low, high, classes := 0, 0, 0
	for _, s := range p.shares {
		if s.percent == 0 || p.workers == 0 {
			continue
		}
		classes++
		if d := s.percent - 100*s.running/p.workers; d < 0 || s.waiting > 0 {
			low, high = min(low, d), max(high, d)
		}
	}
	if classes < 2 {
		return 0
	}
	return high - low
}

// ordinary hands out the idle workers: entitlements, then loans.
func (p *plan) ordinary(idle int) {
	p.lend(p.entitle(idle))
}

// entitle gives idle workers to classes below their targets, in rounds; what
// is left is returned.
func (p *plan) entitle(idle int) int {
	lacks := func(s *share) int {
		if s.waiting > 0 {
			return max(0, s.target-s.running-s.start)
		}
		return 0
	}
	for range p.shares {
		sum := p.sum(lacks)
		if idle <= 0 || sum == 0 {
			break
		}
		idle -= p.allocate(entitlementPhase, idle, min(idle, sum), p.filled(lacks, sum))
	}
	return idle
}

// filled are the percentages of a sum; the largest class takes what rounding
// leaves.
func (p *plan) filled(part func(*share) int, sum int) []int {
	out := percents(p.shares, part, sum)
	out[0] = 100
	for _, q := range out[1:] {
		out[0] -= q
	}
	return out
}

// lend assigns the workers that are still idle to classes that can use them, in rounds.
// Earlier loans are taken into account.
func (p *plan) lend(idle int) {
	lent := func(s *share) int { return max(0, s.running-s.target) }
	for range p.shares {
		if idle <= 0 || p.sum(wanting) == 0 {
			return
		}
		idle -= p.allocate(loanPhase, idle, idle, p.loans(lent, p.sum(lent)+idle))
	}
}

// loans are the percentages by which a pool is lent. When all loans round to
// nothing the classes' own percentages hold.
func (p *plan) loans(lent func(*share) int, pool int) []int {
	all := p.sum(wanting)
	due := func(s *share) int {
		if s.waiting > 0 {
			return max(0, s.percent*pool/all-lent(s))
		}
		return 0
	}
	if sum := p.sum(due); sum > 0 {
		return percents(p.shares, due, sum)
	}
	return percents(p.shares, wanting, all)
}

// wanting is the percentage of a class with tasks waiting.
func wanting(s *share) int {
	if s.waiting > 0 {
		return s.percent
	}
	return 0
}

// rebalance brings every class to its target: who runs more stops tasks, who
// runs less starts them, and what is free then is lent once. Without anything
// to start nothing stops.
func (p *plan) rebalance() {
	free := p.workers
	for i := range p.shares {
		s := &p.shares[i]
		s.start = min(s.target-s.running, s.waiting)
		s.waiting -= max(0, s.start)
		free -= s.running + s.start
	}
	if free > 0 && p.sum(wanting) > 0 {
		p.allocate(loanPhase, free, free, p.loans(func(*share) int { return 0 }, free))
	}
	for i := range p.shares {
		if p.shares[i].start > 0 {
			return
		}
	}
	for i := range p.shares {
		p.shares[i].start = 0
	}
}

// allocate gives n of the idle workers to the classes with tasks waiting,
// each its percentage rounded up, in order until none is left.
func (p *plan) allocate(name string, idle, n int, percent []int) (total int) {
	given := make([]int, len(p.shares))
	for i := range p.shares {
		s := &p.shares[i]
		k := min(s.waiting, (n*percent[i]+99)/100, n-total)
		s.start += k
		s.waiting -= k
		total += k
		given[i] = k
	}
	p.phases = append(p.phases, phase{name, idle, percent, given})
	return total
}

func (p *plan) sum(part func(*share) int) (n int) {
	for i := range p.shares {
		n += part(&p.shares[i])
	}
	return n
}

func percents(shares []share, part func(*share) int, sum int) []int {
	out := make([]int, len(shares))
	for i := range shares {
		out[i] = 100 * part(&shares[i]) / sum
	}
	return out
}
