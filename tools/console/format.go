package console

import (
	"fmt"
	"html/template"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/quill-grid/quill/events/diff"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/view"
	"github.com/quill-grid/quill/tools/jobstory"
)

// format is the functions of templates.
var format = template.FuncMap{
	"moment":  func(t grid.Time) template.HTML { return timeTag(t, "full") },
	"clock":   func(t grid.Time) template.HTML { return timeTag(t, "clock") },
	"field":   fieldText,
	"ago":     func(t grid.Time) template.HTML { return timeTag(t, "ago") },
	"span":    span,
	"memory":  memory,
	"count":   count,
	"percent": percent,
	"plural":  plural,
	"state":   stateOf,
	"join":    func(words []string) string { return strings.Join(words, ", ") },
	"dict":    dict,
	"add":     func(a, b int) int { return a + b },
	"neg":     func(a int) int { return -a },
	"add1":    func(n uint64) uint64 { return n + 1 },
	"sub1":    func(n uint64) uint64 { return n - 1 },
	"f2":      func(v *float64) string { return number(v, 2) },
	"barname": func(class string) string { return barNames[class] },
	"f2of":    func(v float64) string { return number(&v, 2) },
	"whole":   func(v float64) int64 { return int64(math.Round(v)) },
	"prio":    func(v float64) string { return fmt.Sprintf("%.5f", v) },
	"int":     func(v any) string { return fmt.Sprint(v) },
	"iso":     func(t grid.Time) string { return t.Std().UTC().Format("2006-01-02T15:04:05.000Z") },
	"outcome": outcomeOf,
	"ref":     refOf,
	"sampled": sampledBytes,
	"upper":   strings.ToUpper,
	"when":    func(t time.Time) template.HTML { return timeTag(grid.TimeOf(t), "full") },
	"whenago": func(t time.Time) template.HTML { return timeTag(grid.TimeOf(t), "ago") },
	"legend":  legendOf,
	"arstate": func(r view.Reservation) string { return reservationStates[r.State] },
	"start": func(s *jobstory.Start) template.HTML {
		if s.In <= 0 {
			return template.HTML("now " + template.HTMLEscapeString(s.Where))
		}
		return timeTag(grid.TimeOf(s.Time), "full") + template.HTML(", in "+span(s.In)+" "+template.HTMLEscapeString(s.Where))
	},
	"rowid": func(r view.Job) string {
		return "r" + strings.NewReplacer(":", "-", ",", "_", ".", "-").Replace(refOf(r)) + string(r.Section)
	},
	"hostpath": func(instance string) string {
		_, host, _ := strings.Cut(instance, "@")
		return "/hosts/" + host
	},
}

// timeTag is a time that the script of the page shows in the time zone of the browser; without it, as it is here, in
// UTC.
func timeTag(t grid.Time, style string) template.HTML {
	if t == 0 {
		return "–"
	}
	at := t.Std().UTC()
	text := at.Format("2006-01-02 15:04:05") + " UTC"
	if style == "clock" {
		text = at.Format("15:04:05") + " UTC"
	}
	return template.HTML(`<time datetime="` + at.Format("2006-01-02T15:04:05.000Z") + `" data-style="` + style + `">` +
		text + `</time>`)
}

// fieldText is the text of a field of an event, whose times are in UTC; that of a time is like all times of a page.
func fieldText(text string) any {
	if at, err := time.Parse(diff.TimeLayout, text); err == nil {
		return timeTag(grid.TimeOf(at), "full")
	}
	return text
}

// span prints seconds: 0.12 s, 8 s, 5 min, 2 h 10 min, 3 d 4 h.
func span(length any) string {
	seconds := float(length)
	switch s := int64(math.Round(seconds)); {
	case seconds >= grid.Infinity:
		return "unlimited"
	case seconds < 0:
		return "0 s"
	case seconds > 0 && seconds < 1:
		return fmt.Sprintf("%.2f s", seconds)
	case s < 120:
		return fmt.Sprintf("%d s", s)
	case s < 2*3600:
		return two(s/60, "min", s%60, "s")
	case s < 2*86400:
		return two(s/3600, "h", s%3600/60, "min")
	default:
		return two(s/86400, "d", s%86400/3600, "h")
	}
}

func two(a int64, unit string, b int64, less string) string {
	if b == 0 {
		return fmt.Sprintf("%d %s", a, unit)
	}
	return fmt.Sprintf("%d %s %d %s", a, unit, b, less)
}

// memory prints bytes.
func memory(bytes *float64) string {
	switch {
	case bytes == nil:
		return "–"
	case *bytes == 0:
		return "0"
	}
	return view.Memory(*bytes, 1)
}

// sampledBytes prints bytes of a process that a host has sampled: none has 0.
func sampledBytes(bytes float64) string {
	if bytes == 0 {
		return "–"
	}
	return memory(&bytes)
}

// count prints a number with thin spaces between groups of three digits.
func count(n any) string {
	text := fmt.Sprint(n)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "\u202f" + text[i:]
	}
	return text
}

func percent(part, whole any) float64 {
	p, w := float(part), float(whole)
	if w == 0 {
		return 0
	}
	return math.Round(min(p/w, 1)*1000) / 10
}

func float(v any) float64 {
	f, _ := strconv.ParseFloat(fmt.Sprint(v), 64)
	return f
}

func number(v *float64, digits int) string {
	if v == nil {
		return "–"
	}
	return strconv.FormatFloat(*v, 'f', digits, 64)
}

func plural(n any, word string) string {
	text := count(n) + " " + word
	if fmt.Sprint(n) != "1" {
		text += "s"
	}
	return text
}

func dict(pairs ...any) map[string]any {
	out := map[string]any{}
	for i := 0; i+1 < len(pairs); i += 2 {
		out[fmt.Sprint(pairs[i])] = pairs[i+1]
	}
	return out
}

// badge is a state in a word, with the class that has its colour.
type badge struct{ Class, Word string }

// stateOf explains the letters of qstat. The most important letter decides.
func stateOf(letters string) badge {
	has := func(any string) bool { return strings.ContainsAny(letters, any) }
	switch {
	case has("E"):
		return badge{"error", "error"}
	case has("d"):
		return badge{"gone", "being deleted"}
	case letters == "z":
		return badge{"gone", "finished"}
	case has("sSTNP"):
		return badge{"suspended", "suspended"}
	case has("t"):
		return badge{"running", "starting"}
	case has("r"):
		return badge{"running", "running"}
	case has("h"):
		return badge{"held", "held"}
	case has("q"):
		return badge{"waiting", "waiting"}
	}
	return badge{"gone", letters}
}

// outcomeClasses are the colours of endings.
var outcomeClasses = map[view.Ending]string{view.Done: "good", view.Failed: "error", view.Killed: "error",
	view.Deleted: "gone", view.Rescheduled: "waiting"}

// outcomeOf is how an attempt has ended.
func outcomeOf(a *grid.Accounting) badge {
	o := view.OutcomeOf(a)
	return badge{outcomeClasses[o.Ending], o.String()}
}

// refOf names the job or tasks of a row as commands do.
func refOf(r view.Job) string {
	if len(r.Tasks) == 0 {
		return fmt.Sprint(r.ID)
	}
	words := make([]string, len(r.Tasks))
	for i, part := range r.Tasks {
		words[i] = fmt.Sprintf("%d.%s", r.ID, part)
	}
	return strings.Join(words, ",")
}

// legendOf counts the tasks of an array by state.
func legendOf(tasks []taskCell) (out []part) {
	at := map[string]int{}
	for _, t := range tasks {
		i, known := at[t.Text]
		if !known {
			i = len(out)
			at[t.Text] = i
			out = append(out, part{Name: t.Text, Class: t.Class})
		}
		out[i].Value++
	}
	return out
}

// reservationStates are the states of advance reservations in words.
var reservationStates = map[grid.ARState]string{grid.ARWaiting: "waiting", grid.ARRunning: "running",
	grid.ARWarning: "waiting, in conflict", grid.ARError: "in error",
	grid.ARDeleted: "deleted", grid.ARExited: "over"}

// stepClass is the colour of a step of a story.
func stepClass(what string) string {
	switch what {
	case "started", "running", "resumed":
		return "running"
	case "suspended", "preempted", "migrated":
		return "suspended"
	case "error", "deleted":
		return "error"
	}
	return "waiting"
}
