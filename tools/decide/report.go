package decide

import (
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/orders"
	"github.com/quill-grid/quill/pkg/grid"
)

// Report is what became of the repetition.
type Report struct {
	Runs   int `json:"runs" jsonschema:"that were decided again and were equal"`
	Orders int `json:"orders" jsonschema:"of these"`
	Cut    int `json:"cut" jsonschema:"of these runs, those of which only the first orders came to qmaster"`
	Passed int `json:"passed" jsonschema:"runs that were not decided again: their beginning was not recorded, or their scheduler was not the registered one any more"`

	Gaps     []Gap  `json:"gaps,omitzero" jsonschema:"of the recording"`
	recorded uint64 // the last list that came of recorded orders

	Algorithms []string      `json:"algorithms" jsonschema:"in the order in which they decided"`
	First      grid.Time     `json:"first" jsonschema:"time of the first run, milliseconds since 1970"`
	Last       grid.Time     `json:"last"`
	Took       time.Duration `json:"took_ns"`

	Difference *Difference `json:"difference,omitzero" jsonschema:"the first, where the repetition ended"`
}

// SchemaName returns quill-replay-decide.
func (Report) SchemaName() string { return "quill-replay-decide" }

// Gap is a part of the log in which orders were carried out that are not recorded.
type Gap struct {
	From  uint64    `json:"from" jsonschema:"the first list that came of such orders"`
	To    uint64    `json:"to" jsonschema:"and the last"`
	Lists int       `json:"lists"`
	Begin grid.Time `json:"begin"`
	End   grid.Time `json:"end"`
}

// gap adds a list that came of orders which are not recorded. Those without a recorded
// one between them are one gap.
func (r *Report) gap(l events.List) {
	if n := len(r.Gaps); n == 0 || r.Gaps[n-1].To < r.recorded {
		r.Gaps = append(r.Gaps, Gap{From: l.Seq, Begin: l.At})
	}
	g := &r.Gaps[len(r.Gaps)-1]
	g.To, g.End = l.Seq, l.At
	g.Lists++
}

// Difference is an order that was not decided again as it was.
type Difference struct {
	Scheduler string    `json:"scheduler"`
	Algorithm string    `json:"algorithm"`
	Run       uint64    `json:"run"`
	Seq       uint64    `json:"seq" jsonschema:"of the list on which it was decided"`
	At        grid.Time `json:"at"`
	Order     int       `json:"order" jsonschema:"its place in the run, from 1"`
	Of        int       `json:"of" jsonschema:"orders of the run on record"`
	Recorded  string    `json:"recorded,omitempty"` // "": there is none
	Repeated  string    `json:"repeated,omitempty"`
	Refused   bool      `json:"refused,omitempty" jsonschema:"the recorded one, by qmaster"`
	Fields    []Field   `json:"fields,omitempty"`
	// Since is the list at which the algorithm had been given the full state, and
	// RepeatedSince where it was here: later, if the log does not go back that far.
	Since         uint64 `json:"since" jsonschema:"list at which the algorithm that decided had received the full state"`
	RepeatedSince uint64 `json:"repeated_since" jsonschema:"list at which the algorithm here received it: later if the log does not go back that far"`
}

// Field is a part of an order that is not the same.
type Field struct {
	Name     string `json:"name"`
	Recorded string `json:"recorded"`
	Repeated string `json:"repeated"`
}

func (r *Report) count(run *recordedRun) {
	r.Runs++
	r.Orders += len(run.Orders)
	if !run.whole {
		r.Cut++
	}
	if r.First == 0 {
		r.First = run.At
	}
	r.Last = run.At
	if !slices.Contains(r.Algorithms, run.Algorithm) {
		r.Algorithms = append(r.Algorithms, run.Algorithm)
	}
}

func (r *repeater) difference(run *recordedRun, n int, recorded, repeated orders.Order) *Difference {
	d := &Difference{
		Scheduler: run.Scheduler, Algorithm: run.Algorithm, Run: run.Run, Seq: run.Seq, At: run.At,
		Order: n + 1, Of: len(run.Orders), Since: run.Since, RepeatedSince: r.repeatedSince,
	}
	if recorded != nil {
		d.Recorded, d.Refused = recorded.String(), run.refused[n]
	}
	if repeated != nil {
		d.Repeated = repeated.String()
	}
	if recorded != nil && repeated != nil && recorded.Type() == repeated.Type() {
		d.Fields = unlike("", reflect.ValueOf(recorded), reflect.ValueOf(repeated))
	}
	return d
}

// unlike are the fields in which two values of a type differ.
func unlike(name string, a, b reflect.Value) (out []Field) {
	switch {
	case a.Kind() == reflect.Pointer && !a.IsNil() && !b.IsNil():
		return unlike(name, a.Elem(), b.Elem())
	case a.Kind() == reflect.Struct:
		for i := range a.NumField() {
			if f := a.Type().Field(i); f.IsExported() {
				out = append(out, unlike(strings.TrimPrefix(name+"."+f.Name, "."), a.Field(i), b.Field(i))...)
			}
		}
		return out
	case a.Kind() == reflect.Slice && a.Len() == b.Len():
		for i := range a.Len() {
			out = append(out, unlike(fmt.Sprintf("%s[%d]", name, i), a.Index(i), b.Index(i))...)
		}
		return out
	}
	if was, is := fmt.Sprint(a), fmt.Sprint(b); was != is {
		out = append(out, Field{name, was, is})
	}
	return out
}

// Print writes the report for people.
func (r *Report) Print(w io.Writer) {
	d := r.Difference
	switch {
	case d != nil:
		d.print(w)
		fmt.Fprintf(w, "%s before it: all equal\n", r.sum())
	case r.Runs == 0:
		fmt.Fprintln(w, "no run is recorded")
	case len(r.Gaps) > 0:
		fmt.Fprintf(w, "%s: equal as far as they are recorded\n", r.sum())
	default:
		fmt.Fprintf(w, "%s: all equal\n", r.sum())
	}
	for _, g := range r.Gaps {
		fmt.Fprintf(w, "gap: orders of %s are not recorded, from list %d at %s to list %d at %s\n",
			many(g.Lists, "list"), g.From, clock(g.Begin), g.To, clock(g.End))
	}
	if r.Cut > 0 {
		fmt.Fprintf(w, "of %s only the first orders are recorded\n", many(r.Cut, "run"))
	}
	if r.Passed > 0 {
		fmt.Fprintf(w, "%s could not be repeated: the beginning is not recorded, or the scheduler was no longer registered\n",
			many(r.Passed, "run"))
	}
	if r.Runs > 1 {
		span := r.Last.Sub(r.First)
		fmt.Fprintf(w, "decided by %s from %s to %s; repeated in %.2f s, %.0f times as fast\n",
			strings.Join(r.Algorithms, ", "), clock(r.First), clock(r.Last), r.Took.Seconds(), span/max(r.Took.Seconds(), 1e-9))
	}
}

func (r *Report) sum() string { return many(r.Runs, "run") + ", " + many(r.Orders, "order") }

func (d *Difference) print(w io.Writer) {
	fmt.Fprintf(w, "run %d of %s, algorithm %s, decided on list %d at %s, is not repeated: order %d of %d\n",
		d.Run, d.Scheduler, d.Algorithm, d.Seq, clock(d.At), d.Order, d.Of)
	refused := ""
	if d.Refused {
		refused = " (refused by qmaster)"
	}
	fmt.Fprintf(w, "   recorded   %s%s\n", or(d.Recorded), refused)
	fmt.Fprintf(w, "   repeated   %s\n", or(d.Repeated))
	for _, f := range d.Fields {
		fmt.Fprintf(w, "      %-20s recorded %s, repeated %s\n", f.Name, or(f.Recorded), or(f.Repeated))
	}
	if d.RepeatedSince > d.Since {
		fmt.Fprintf(w, "   the algorithm that decided had followed the lists from %d on, this one only from %d on\n",
			d.Since, d.RepeatedSince)
	}
}

func or(text string) string {
	if text == "" {
		return "none"
	}
	return text
}

func many(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

func clock(t grid.Time) string { return t.Std().Format("01/02/2006 15:04:05.000") }
