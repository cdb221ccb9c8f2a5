package attack

import (
	"fmt"
	"io"
	"slices"
	"text/tabwriter"
	"time"
)

// What an attack must not reach.
const (
	timesIdle = 10
	memoryMax = 1 << 30
)

// outcome is what was seen.
type outcome struct {
	idle      quantiles // before
	idleUse   usage
	shepherds []int

	fields       []*field
	during, all  quantiles
	peak         usage // of the whole attack
	allPeak      usage // of the part in which all ran
	untimed      bool
	sleepers     []uint32
	crashes      []string
	breaches     []string
	afterUse     usage
	settled, ran time.Duration
	inError      []string // queue instances
	stopped      int      // of the honest user's jobs that were to run all the time
	undeleted    int      // jobs of the attacker
	deleting     time.Duration
}

// linesMax is how many lines of a list are printed.
const linesMax = 40

// bar is what must hold.
type bar struct {
	what, seen, bound string
	held, timed       bool
}

func ms(d time.Duration) string {
	if d < 10*time.Millisecond {
		return fmt.Sprintf("%.1f ms", float64(d)/float64(time.Millisecond))
	}
	return fmt.Sprintf("%d ms", d.Milliseconds())
}

func (r *outcome) allBreaches() (all []string) {
	for _, f := range r.fields {
		f.mu.Lock()
		for _, b := range f.breaches {
			all = append(all, f.name()+": "+b)
		}
		f.mu.Unlock()
	}
	return append(all, r.breaches...)
}

func (r *outcome) bars() []bar {
	limit := timesIdle * r.idle.p99
	none := func(what string, n int) bar { return bar{what: what, seen: fmt.Sprint(n), bound: "0", held: n == 0} }
	within := func(what string, took, most time.Duration) bar {
		return bar{what: what, seen: fmt.Sprintf("%.1f s", took.Seconds()), bound: fmt.Sprintf("%.0f s", most.Seconds()), held: took <= most, timed: true}
	}
	mib := func(n int64) string { return fmt.Sprintf("%d MiB", n>>20) }
	return []bar{
		none("daemons that ended", len(r.crashes)),
		none("files or secrets of others read or written", len(r.allBreaches())),
		{"qsub of the honest user, p99", ms(r.during.p99), fmt.Sprintf("%s (%d x idle)", ms(limit), timesIdle), r.during.p99 <= limit, true},
		none("qsub of the honest user that failed", r.during.failed),
		{"memory of qmaster, peak", mib(r.peak.memory), mib(memoryMax), r.peak.memory <= memoryMax, false},
		within("after: a job is submitted, run and accounted", r.ran, normalWithin),
		{"after: descriptors of qmaster", fmt.Sprint(r.afterUse.files), fmt.Sprint(r.idleUse.files + filesLeft), r.afterUse.files <= r.idleUse.files+filesLeft, true},
		{"after: memory of qmaster", mib(r.afterUse.memory), mib(r.idleUse.memory + memoryLeft), r.afterUse.memory <= r.idleUse.memory+memoryLeft, true},
		none("after: queue instances in error", len(r.inError)),
		none("after: jobs of the honest user that ended", r.stopped),
		{fmt.Sprintf("after: jobs of others left %.0f s after qdel", r.deleting.Seconds()), fmt.Sprint(r.undeleted), "0", r.undeleted == 0, true},
	}
}

// print prints the report and reports whether all bars were kept.
func (r *outcome) print(w io.Writer) (held bool) {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprint(t, "\nattack\tdone\trefused\tqsub p50\tp99\tmax\tfailed\tqmaster\tfiles\tbreaches\n")
	row := func(name, done, refused string, q quantiles, u usage, breaches int) {
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%s\t%d\t%d MiB\t%d\t%d\n", name, done, refused, ms(q.p50), ms(q.p99), ms(q.max), q.failed, u.memory>>20, u.files, breaches)
	}
	row("none: the idle cell", "-", "-", r.idle, r.idleUse, 0)
	for _, f := range r.fields {
		if f.alone.qsub.n == 0 {
			fmt.Fprintf(t, "%s\t%d\t%d\t-\t-\t-\t-\t-\t-\t%d\n", f.name(), f.done, f.refused, len(f.breaches))
			continue
		}
		row(f.name(), fmt.Sprint(f.done), fmt.Sprint(f.refused), f.alone.qsub, f.alone.peak, len(f.breaches))
	}
	if r.all.n > 0 {
		row("all at the same time", "-", "-", r.all, r.allPeak, 0)
	}
	t.Flush()
	held = true
	fmt.Fprintln(w)
	fmt.Fprint(t, "bar\tseen\tbound\t\n")
	for _, b := range r.bars() {
		result := "held"
		switch {
		case !b.held && b.timed && r.untimed:
			result = "missed, not judged"
		case !b.held:
			result, held = "MISSED", false
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\n", b.what, b.seen, b.bound, result)
	}
	t.Flush()
	list := func(title string, lines []string) {
		if len(lines) > 0 {
			fmt.Fprintf(w, "\n%s:\n", title)
		}
		counts := map[string]int{}
		for _, l := range lines {
			counts[l]++
		}
		for i, l := range slices.Compact(slices.Sorted(slices.Values(lines))) {
			if i == linesMax {
				fmt.Fprintln(w, "  ...")
				break
			}
			fmt.Fprintf(w, "  %d x %s\n", counts[l], l)
		}
	}
	list("daemons that ended", r.crashes)
	list("breaches", r.allBreaches())
	list("queue instances in error", r.inError)
	var failed []string
	for _, f := range r.fields {
		if f.failed != "" && f.done+f.refused == 0 {
			failed = append(failed, f.name()+": "+f.failed)
		}
	}
	list("attacks that could do nothing", failed)
	if r.during.failed > 0 {
		list("a qsub that failed", []string{r.during.why})
	}
	return held
}
