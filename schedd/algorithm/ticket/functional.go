package ticket

import (
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/schedd/model"
)

// functional is the functional policy: the pool is divided among users,
// departments, projects and jobs by their functional shares.
//
// Running tasks have their part of it. Pending ones are counted one by one as
// if they ran, at most max_functional_jobs_to_schedule of them: first always
// the one that would have most; what it has then is what it is worth. The
// others are worth what the next of their class would have.
type functional struct {
	pool    float64
	shared  bool // share_functional_shares
	weights [4]float64
	sums    [4]float64 // shares of all that run or are counted so
	ran     [4]float64 // shares of all that run
	scale   [4]float64 // weights for running tasks: those of categories without shares go to the others
	classes map[functionalKey]*functionalClass
}

// The categories.
const (
	byUser = iota
	byDepartment
	byProject
	byJob
)

// functionalKey is what jobs have in common that are worth the same.
type functionalKey struct{ user, department, project, jobShare uint32 }

// functionalClass is those jobs.
type functionalClass struct {
	holders  [3]*holder // by category
	jobShare float64
	extra    float64   // the most that policies before this one give to one of them
	worth    []float64 // of those that were counted, in order
	taken    int       // of those that have started
	parties  []*party
	walks    []*model.Walk // at the first of each party, while counting
	left     uint32        // tasks of the first job that can still be counted
	rank     float64       // while counting: at least what the next would have
}

// newFunctional counts what runs and then what is pending.
func (p *policies) newFunctional() *functional {
	c := p.conf
	f := &functional{pool: float64(c.WeightTicketsFunctional), shared: c.ShareFunctionalShares,
		weights: [4]float64{byUser: c.WeightUser, byDepartment: c.WeightDepartment, byProject: c.WeightProject,
			byJob: c.WeightJob},
		classes: map[functionalKey]*functionalClass{}}
	if f.pool == 0 {
		return f
	}
	f.normalise(&f.weights)
	for i := range p.parties {
		a := &p.parties[i]
		key := functionalKey{a.User, a.Department, a.Project, a.JobShare}
		k := f.classes[key]
		if k == nil {
			k = &functionalClass{holders: [3]*holder{a.user, a.department, a.project}, jobShare: float64(a.JobShare)}
			f.classes[key] = k
		}
		a.functional = k
		if a.Pending > 0 {
			k.parties = append(k.parties, a)
		}
		f.countRunning(k, int(a.Active))
	}
	f.ran, f.scale = f.sums, f.weights
	for i, sum := range f.ran {
		if sum == 0 {
			f.scale[i] = 0
		}
	}
	f.normalise(&f.scale)
	f.rankPending(p)
	return f
}

func (*functional) normalise(w *[4]float64) {
	sum := w[0] + w[1] + w[2] + w[3]
	for i := range w {
		if sum > 0 {
			w[i] /= sum
		}
	}
}

// shareOf is the share of a task in a category, next being 1 for one that is
// not counted yet; fresh is by how much it would raise the sum.
func (f *functional) shareOf(k *functionalClass, category, next int) (share, fresh float64) {
	if category == byJob {
		return k.jobShare, k.jobShare
	}
	h := k.holders[category]
	if !f.shared {
		return h.fshare, h.fshare
	}
	if h.counted == 0 {
		fresh = h.fshare
	}
	return h.fshare / float64(max(h.counted+next, 1)), fresh
}

// countRunning counts the running tasks of a class.
func (f *functional) countRunning(k *functionalClass, tasks int) {
	f.sums[byJob] += k.jobShare * float64(tasks)
	for i, h := range k.holders {
		switch {
		case !f.shared:
			f.sums[i] += h.fshare * float64(tasks)
		case h.counted == 0 && h.active > 0:
			f.sums[i] += h.fshare
		}
		h.counted = h.active
	}
}

// countNext counts one more task of a class as running.
func (f *functional) countNext(k *functionalClass) {
	for i := range f.sums {
		_, fresh := f.shareOf(k, i, 1)
		f.sums[i] += fresh
	}
	for _, h := range k.holders {
		h.counted++
	}
}

// next is what the next task of a class would have. While ranking, its own
// share does not count in the sums where shares are shared, and all sums are a
// little larger, so that of classes of which nothing runs the one with more
// shares is first.
func (f *functional) next(k *functionalClass, ranking bool) (sum float64) {
	for i, w := range f.weights {
		share, fresh := f.shareOf(k, i, 1)
		total := f.sums[i]
		if ranking {
			total += 0.001
		}
		if !ranking || !f.shared || i == byJob {
			total += fresh
		}
		if share > 0 {
			sum += w * share * f.pool / total
		}
	}
	return sum
}

// running is what each running task of a class has.
func (f *functional) running(c *party) (sum float64) {
	if f.pool == 0 || c.Active == 0 {
		return 0
	}
	holders := [...]*holder{byUser: c.user, byDepartment: c.department, byProject: c.project}
	for i, w := range f.scale {
		share := float64(c.JobShare)
		if i != byJob {
			if share = holders[i].fshare; f.shared {
				share /= float64(max(holders[i].active, 1))
			}
		}
		if w > 0 && share > 0 {
			sum += w * share * f.pool / f.ran[i]
		}
	}
	return sum
}

// pending is what the next task of a class has.
func (f *functional) pending(c *party) float64 {
	if f.pool == 0 {
		return 0
	}
	if k := c.functional; k.taken < len(k.worth) {
		return k.worth[k.taken]
	}
	return f.next(c.functional, false)
}

// rankPending counts pending tasks as if they ran.
func (f *functional) rankPending(p *policies) {
	var heap classHeap
	for i := range p.parties {
		k := p.parties[i].functional
		if len(k.parties) == 0 || k.parties[0] != &p.parties[i] {
			continue
		}
		for _, a := range k.parties {
			w := new(model.Walk)
			w.Begin(&p.m.Lines, a.first)
			k.walks = append(k.walks, w)
			k.extra = max(k.extra, p.before(a))
		}
		k.begin(p)
		k.rank = k.extra + f.next(k, true)
		heap = append(heap, k)
	}
	heap.settle()
	for n := uint32(0); n < p.conf.MaxFunctionalJobsToSchedule && len(heap) > 0; n++ {
		for {
			k := heap[0]
			if now := k.extra + f.next(k, true); now < k.rank {
				k.rank = now
				heap.down(0)
				continue
			}
			break
		}
		k := heap[0]
		k.worth = append(k.worth, f.next(k, false))
		f.countNext(k)
		if !k.pass(p) {
			heap[0] = heap[len(heap)-1]
			heap = heap[:len(heap)-1]
		}
		if len(heap) > 0 {
			heap.down(0)
		}
	}
}

// before is what the policies that stand before the functional one in
// policy_hierarchy give to the next task of a class.
func (p *policies) before(c *party) (sum float64) {
	if precedes(p.conf.PolicyHierarchy, 'O', 'F') {
		sum += p.override(c, 1)
	}
	if precedes(p.conf.PolicyHierarchy, 'S', 'F') {
		sum += p.pendingShare(p.topOf(c.leaf))
	}
	return sum
}

// begin moves the first of the class's jobs to the front.
func (k *functionalClass) begin(p *policies) {
	for i, w := range k.walks {
		if w.Before(k.walks[0].Place) {
			k.walks[0], k.walks[i] = w, k.walks[0]
		}
	}
	if len(k.walks) > 0 {
		k.left = p.tasks(p.m.State.Job(k.walks[0].Job))
	}
}

// pass continues to the next task of the class; false: there is none.
func (k *functionalClass) pass(p *policies) bool {
	if k.left--; k.left > 0 {
		return true
	}
	first := k.walks[0]
	first.Pass()
	if !first.Next() {
		k.walks[0] = k.walks[len(k.walks)-1]
		k.walks = k.walks[:len(k.walks)-1]
	}
	k.begin(p)
	return len(k.walks) > 0
}

// tasks is how many of a job's tasks policies look at,
// max_pending_tasks_per_job.
func (p *policies) tasks(j *grid.Job) (n uint32) {
	for id := p.m.NextTask(j, 0); id != 0 && n < max(p.conf.MaxPendingTasksPerJob, 1); id = p.m.NextTask(j, id) {
		n++
	}
	return n
}

// classHeap is classes, the one whose next task is worth most first.
type classHeap []*functionalClass

func (h classHeap) before(i, k int) bool {
	if h[i].rank != h[k].rank {
		return h[i].rank > h[k].rank
	}
	return h[i].walks[0].Before(h[k].walks[0].Place)
}

func (h classHeap) settle() {
	for i := len(h)/2 - 1; i >= 0; i-- {
		h.down(i)
	}
}

func (h classHeap) down(i int) {
	for {
		first, l := i, 2*i+1
		for k := l; k < min(l+2, len(h)); k++ {
			if h.before(k, first) {
				first = k
			}
		}
		if first == i {
			return
		}
		h[i], h[first] = h[first], h[i]
		i = first
	}
}
