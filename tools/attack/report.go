package attack

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
)

// What an attack must not reach.
const (
	timesIdle = 10
	memoryMax = 512 << 20
	// leastBound is the least bound of a delay: ten times nothing is nothing.
	leastBound = time.Second
)

// outcome is what was seen.
type outcome struct {
	idle      map[string]quantiles // before, by service
	idleUse   map[string]usage     // by daemon
	shepherds []int

	fields    []*field
	during    map[string]quantiles // by service
	all       quantiles            // of qsub
	peak      map[string]usage     // of the whole attack, by daemon
	allPeak   usage                // of the part in which all ran
	untimed   bool
	sleepers  []uint32
	crashes   []string
	breaches  []string
	afterUse  map[string]usage
	ran       time.Duration
	survivors int      // processes of the attacker's jobs that are left
	late      []string // daemons that did not end when they were asked to
	inError   []string // queue instances
	stopped   int      // of the honest user's jobs that were to run all the time
	undeleted int      // jobs of the attacker
	deleting  time.Duration
}

// qmasterName is the daemon whose memory the report shows for each attack.
const qmasterName = "qmaster"

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

// inactiveAttacks returns the attacks that could do nothing, and why: what they were to show is not known then.
func (r *outcome) inactiveAttacks() (all []string) {
	for _, f := range r.fields {
		f.mu.Lock()
		if f.failed != "" && f.done+f.refused == 0 {
			all = append(all, f.name()+": "+f.failed)
		}
		f.mu.Unlock()
	}
	return all
}

// lateAttacks returns the attacks that have not come to their first request.
func (r *outcome) lateAttacks() (all []string) {
	for _, f := range r.fields {
		f.mu.Lock()
		if f.failed == "" && f.done+f.refused == 0 {
			all = append(all, f.name())
		}
		f.mu.Unlock()
	}
	return all
}

func (r *outcome) bars() []bar {
	none := func(what string, n int) bar { return bar{what: what, seen: fmt.Sprint(n), bound: "0", held: n == 0} }
	within := func(what string, took, most time.Duration) bar {
		return bar{what: what, seen: fmt.Sprintf("%.1f s", took.Seconds()), bound: fmt.Sprintf("%.0f s", most.Seconds()),
			held: took <= most, timed: true}
	}
	all := []bar{
		none("daemons that ended", len(r.crashes)),
		none("daemons that did not end when asked to", len(r.late)),
		none("files, secrets or jobs of others touched, listings forged", len(r.allBreaches())),
		none("attacks that could do nothing", len(r.inactiveAttacks())),
		{"attacks that did not come to their first request", fmt.Sprint(len(r.lateAttacks())), "0",
			len(r.lateAttacks()) == 0, true},
	}
	for _, s := range services {
		q, idle := r.during[s.name], r.idle[s.name]
		limit := max(timesIdle*idle.p99, leastBound)
		all = append(all, bar{"honest user: " + s.name + ", p99", ms(q.p99),
			fmt.Sprintf("%s (%d x idle)", ms(limit), timesIdle), q.p99 <= limit, true},
			none("honest user: "+s.name+", failed", q.failed))
	}
	return append(append(all, r.memoryBars()...),
		within("after: a job is submitted, run and accounted", r.ran, normalWithin),
		none("after: queue instances in error", len(r.inError)),
		none("after: jobs of the honest user that ended", r.stopped),
		none("after: processes of the attacker's jobs", r.survivors),
		bar{fmt.Sprintf("after: jobs of others left %.0f s after qdel", r.deleting.Seconds()), fmt.Sprint(r.undeleted), "0",
			r.undeleted == 0, true})
}

// memoryBars are those of the daemons.
func (r *outcome) memoryBars() (all []bar) {
	mib := func(n int64) string { return fmt.Sprintf("%d MiB", n>>20) }
	for _, name := range slices.Sorted(maps.Keys(r.peak)) {
		peak, after, idle := r.peak[name], r.afterUse[name], r.idleUse[name]
		all = append(all, bar{"peak memory of " + name, mib(peak.memory), mib(memoryMax), peak.memory <= memoryMax, false},
			bar{"memory of " + name + " afterwards", mib(after.memory), mib(idle.memory + memoryLeft),
				after.memory <= idle.memory+memoryLeft, true},
			bar{"after: descriptors of " + name, fmt.Sprint(after.files), fmt.Sprint(idle.files + filesLeft),
				after.files <= idle.files+filesLeft, true})
	}
	return all
}

// coverage is how many subjects of each table were attacked, by class, and how often.
func (r *outcome) coverage() (rows [][]string) {
	for _, f := range r.fields {
		f.mu.Lock()
		if len(f.covered) > 0 {
			times := 0
			for _, n := range f.covered {
				times += n
			}
			rows = append(rows, []string{f.name(), fmt.Sprint(len(f.covered)), fmt.Sprint(times)})
		}
		f.mu.Unlock()
	}
	return rows
}

// printCoverage prints how much was attacked.
func (r *outcome) printCoverage(w io.Writer, t *tabwriter.Writer) {
	fmt.Fprintln(w)
	fmt.Fprint(t, "attack\tsubjects\ttimes\t\n")
	for _, row := range r.coverage() {
		fmt.Fprintln(t, strings.Join(row, "\t")+"\t")
	}
	t.Flush()
}

// printMachine prints how long what needs no cell takes on this machine, and how much of the processors the honest
// user's commands use themselves.
func (r *outcome) printMachine(w io.Writer, t *tabwriter.Writer) {
	fmt.Fprint(t, "\nthe machine\tp99\tidle\tprocessor p50\tp99\tidle p50\tp99\t\n")
	for _, s := range measured {
		during, idle := r.during[s.name], r.idle[s.name]
		fmt.Fprintln(t, strings.Join([]string{s.name, ms(during.p99), ms(idle.p99),
			ms(during.used50), ms(during.used99), ms(idle.used50), ms(idle.used99)}, "\t")+"\t")
	}
	t.Flush()
}

// print prints the report and reports whether all bars were kept.
func (r *outcome) print(w io.Writer) (held bool) {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprint(t, "\nattack\tdone\trefused\tqsub p50\tp99\tmax\tfailed\tqmaster\tfiles\tbreaches\n")
	row := func(name, done, refused string, q quantiles, u usage, breaches int) {
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%s\t%d\t%d MiB\t%d\t%d\n", name, done, refused, ms(q.p50), ms(q.p99), ms(q.max),
			q.failed, u.memory>>20, u.files, breaches)
	}
	row("none: the idle cell", "-", "-", r.idle[qsubService], r.idleUse[qmasterName], 0)
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
	r.printMachine(w, t)
	r.printCoverage(w, t)
	list("daemons that ended", r.crashes)
	list("daemons that did not end when asked to", r.late)
	list("breaches", r.allBreaches())
	list("queue instances in error", r.inError)
	list("attacks that could do nothing", r.inactiveAttacks())
	list("attacks that did not come to their first request", r.lateAttacks())
	for _, s := range services {
		if q := r.during[s.name]; q.failed > 0 {
			list("a failure of "+s.name, []string{q.why})
		}
	}
	return held
}
