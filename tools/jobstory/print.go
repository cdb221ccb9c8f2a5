package jobstory

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/quill-grid/quill/pkg/explain"
	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/opt"
)

// column is where the text of a step begins.
const column = 59

// waitsMost is how many reasons of a wait are printed.
const waitsMost = 8

// Print prints the story as a timeline: the list, its time, the seconds since the
// step before, what happened.
func (s *Story) Print(w io.Writer) error {
	var b bytes.Buffer
	name := fmt.Sprintf("job %d", s.Job)
	if s.Task > 0 {
		name += fmt.Sprintf(".%d", s.Task)
	}
	fmt.Fprintf(&b, "%s %q of %s: %s; waited %s, ran %s\n", name, s.Name, s.Owner, s.State, span3(s.Wait), span3(s.Run))
	if s.Outlook != nil {
		fmt.Fprintln(&b, s.Outlook.Answer)
	}
	fmt.Fprintf(&b, "asks for: %s\n", s.Asked)
	if s.From.Seq > 1 {
		fmt.Fprintf(&b, "history:  lists %d to %d, since %s\n", s.From.Seq, s.To.Seq, clock(s.From.Time))
	}
	fmt.Fprintf(&b, "\n%9s  %-23s %10s  %-11s %s\n", "list", "time", "+seconds", "what", "")
	var last time.Time
	for _, step := range s.Steps {
		since := ""
		if !last.IsZero() {
			since = fmt.Sprintf("+%.3f", step.Time.Sub(last).Seconds())
		}
		last = step.Time
		step.print(&b, since)
	}
	if len(s.Tasks) > 0 {
		b.WriteByte('\n')
		s.table(&b)
	}
	if len(s.Waits) > 0 && s.State == "over" {
		fmt.Fprintf(&b, "\nwhy its tasks waited:\n")
		printWaits(&b, 2, s.Waits)
	}
	if s.Outlook != nil {
		s.Outlook.print(&b)
	}
	_, err := w.Write(b.Bytes())
	return err
}

func (s *Step) print(b *bytes.Buffer, since string) {
	what := s.What
	if s.Task > 0 {
		what += fmt.Sprintf(" .%d", s.Task)
	}
	text := s.Text
	switch s.What {
	case "started":
		text += fmt.Sprintf(", after %s of waiting", span3(s.Seconds))
	case "running":
		text = fmt.Sprintf("taken over by the host in %s", span3(s.Seconds))
	case "resumed":
		text = fmt.Sprintf("continues after %s", span3(s.Seconds))
	case "waiting":
		text += ", for " + span3(s.Seconds) + " so far"
	}
	if s.By != "" && s.What != "running" && s.What != "ended" && s.What != "started" {
		text += "  [" + s.By + "]"
	}
	fmt.Fprintf(b, "%9d  %-23s %10s  %-11s %s\n", s.Seq, clock(s.Time), since, what, text)
	printWaits(b, column, s.Waits)
	if s.Decision != nil {
		s.Decision.print(b)
	}
}

// printWaits prints reasons, the longest first.
func printWaits(b *bytes.Buffer, indent int, waits []Wait) {
	for i, w := range waits {
		if i == waitsMost {
			fmt.Fprintf(b, "%*sand %d reasons more (--json)\n", indent, "", len(waits)-i)
			break
		}
		fmt.Fprintf(b, "%*s%9s  %s  (lists %d-%d)\n", indent, "", span3(w.Seconds), w.Reason, w.First, w.Last)
	}
}

func (d *Decision) print(b *bytes.Buffer) {
	pad := strings.Repeat(" ", column)
	fmt.Fprintf(b, "%sdecided in run %s", pad, d.Run)
	if d.Algorithm != "" {
		fmt.Fprintf(b, " of %s", d.Algorithm)
	}
	if d.Recorded {
		fmt.Fprintf(b, ", which had seen list %d: start %d of %d\n", d.Seen, d.Place, d.Starts)
	} else {
		fmt.Fprintf(b, " (not recorded: what follows is the state at list %d)\n", d.Seen)
	}
	if w := d.Worth; w.Detailed {
		fmt.Fprintf(b, "%spriority %.5f: posix %.5f, urgency %.5f (%.0f), tickets %.5f (%.0f)\n", pad,
			w.Priority, w.NPOSIX, w.NUrgency, w.Urgency, w.NTickets, w.Tickets)
	} else if w.Priority != 0 {
		fmt.Fprintf(b, "%spriority %.5f\n", pad, w.Priority)
	}
	for _, text := range d.Chosen {
		fmt.Fprintf(b, "%s%s\n", pad, text)
	}
	printRivals(b, pad, d.Before, d.More)
	if d.After > 0 {
		fmt.Fprintf(b, "%safter it in line: %s\n", pad, opt.Count(d.After, "job"))
	}
}

func printRivals(b *bytes.Buffer, pad string, before []Rival, more int) {
	if len(before) == 0 {
		fmt.Fprintf(b, "%sno job was before it\n", pad)
		return
	}
	fmt.Fprintf(b, "%sbefore it:\n", pad)
	for _, r := range before {
		name := fmt.Sprint(r.Job)
		if r.Task > 0 {
			name += fmt.Sprintf(".%d", r.Task)
		}
		fmt.Fprintf(b, "%s  job %-8s %-10s %.5f  %s\n", pad, name, r.Owner, r.Priority, r.Fate)
	}
	if more > 0 {
		fmt.Fprintf(b, "%s  and %s more\n", pad, opt.Count(more, "job"))
	}
}

// tasksMost is how many tasks the table shows.
const tasksMost = 50

func (s *Story) table(b *bytes.Buffer) {
	fmt.Fprintf(b, "%9s %-12s %10s %10s %8s %9s %9s  %-24s %s\n", "task", "state", "waited", "ran", "attempts", "started",
		"ended", "queue", "end")
	for i, t := range s.Tasks {
		if i == tasksMost {
			fmt.Fprintf(b, "%9s %s (quill why %d.TASK, --json)\n", "", opt.Count(len(s.Tasks)-i, "task")+" more", s.Job)
			break
		}
		fmt.Fprintf(b, "%9d %-12s %10s %10s %8d %9s %9s  %-24s %s\n", t.Task, t.State, span3(t.Wait), span3(t.Run),
			t.Attempts, list(t.Started), list(t.Ended), t.Queue, t.Exit)
	}
}

func list(seq uint64) string {
	if seq == 0 {
		return "-"
	}
	return fmt.Sprint(seq)
}

// Held reports whether nothing but the job itself keeps it from starting.
func (o *Outlook) Held() bool {
	return !slices.ContainsFunc(o.Obstacles, func(s gdi.WaitReason) bool { return s.Kind != explain.Own })
}

func (o *Outlook) print(b *bytes.Buffer) {
	fmt.Fprintf(b, "\nwhat would have to change for it to start:\n")
	for _, r := range o.Obstacles {
		fmt.Fprintf(b, "  - %s", r.Text)
		if r.Remedy != "" {
			fmt.Fprintf(b, ": %s (%s)", r.Remedy, r.By)
		}
		b.WriteByte('\n')
	}
	for _, p := range o.Alternatives {
		fmt.Fprintf(b, "  - %s: %s (%s)\n", p.Text, p.Command, p.By)
	}
	if o.Held() {
		fmt.Fprintf(b, "  apart from that there is a place for it now\n")
	}
	if len(o.Closest) > 0 {
		fmt.Fprintf(b, "  closest of %s:\n", opt.Count(o.Places, "queue instance"))
	}
	for _, n := range o.Closest {
		for i, l := range n.Lacks {
			name := n.Instance
			if i > 0 {
				name = ""
			}
			fmt.Fprintf(b, "    %-20s %s\n", name, l)
		}
		if len(n.Lacks) == 0 {
			fmt.Fprintf(b, "    %-20s has room for a slot of it\n", n.Instance)
		}
	}
	if len(o.Before) > 0 {
		fmt.Fprintf(b, "  in line: %s before it\n", opt.Count(len(o.Before)+o.More, "job"))
		printRivals(b, "    ", o.Before, o.More)
	}
	if o.Alone != nil {
		fmt.Fprintf(b, "  earliest start if it went first:   %s\n", startTime(o.Alone))
	}
	if o.Earliest != nil {
		fmt.Fprintf(b, "  earliest start after those before: %s\n", startTime(o.Earliest))
	}
	if o.Never != "" {
		fmt.Fprintf(b, "  %s\n", o.Never)
	}
}

// startTime prints "now" or when and where.
func startTime(s *Start) string {
	if s.In <= 0 {
		return strings.TrimSpace("now " + s.Where)
	}
	return strings.TrimSpace(fmt.Sprintf("%s, in %s %s", clock(s.Time), span3(s.In), s.Where))
}

// span3 prints seconds: 0.012s, 7.9s, 2:03:04.
func span3(seconds float64) string {
	switch {
	case seconds < 1:
		return fmt.Sprintf("%.3fs", seconds)
	case seconds < 100:
		return fmt.Sprintf("%.1fs", seconds)
	}
	s := int64(seconds + 0.5)
	if s >= 24*3600 {
		return fmt.Sprintf("%dd%02d:%02d:%02d", s/86400, s/3600%24, s/60%60, s%60)
	}
	return fmt.Sprintf("%d:%02d:%02d", s/3600, s/60%60, s%60)
}
