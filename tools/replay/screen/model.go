package screen

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/quill-grid/quill/events/filter"
	"github.com/quill-grid/quill/pkg/opt"
)

// Options is what a view is made of.
type Options struct {
	Tape  Tape
	Name  string // of the log, for the first line
	Zone  *time.Location
	Start uint64 // the first list to be shown
	// Show runs a showing command on a page and returns what it prints.
	Show func(words []string, p Page) string
	// Commands are the names that Show knows.
	Commands []string
}

// model is the view: what is shown, and what the keys have asked for.
type model struct {
	Options
	width, height int

	page     Page
	selected int // the event whose changes are shown
	focus    pane
	zoomed   bool
	top      [panes]int // how far each pane is scrolled

	asking   *question
	answers  map[string]string // what was last said about each matter
	breakAt  *filter.Filter
	breaks   string // its text
	searches quest
	busy     string            // what is being done
	typed    []tea.KeyPressMsg // keys that wait until it is done
	note     string            // the last line but one
	reading  *sheet
}

// question is a line that is being typed. About is what it asks for; empty is
// what an empty line stands for.
type question struct {
	label, about, empty, text string
	do                        func(m model, text string) (model, tea.Cmd)
}

// sheet is text over the whole screen: help, or what a command printed.
type sheet struct {
	title string
	lines []string
	top   int
	left  int // columns that are scrolled away
}

// New is the view before anything was read.
func New(o Options) tea.Model {
	return model{Options: o, width: 80, height: 24, answers: map[string]string{}, busy: "reading"}
}

// Init implements tea.Model.
func (m model) Init() tea.Cmd { return goTo(m.Tape, m.Start, "") }

// Update implements tea.Model.
func (m model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		if msg.Width > 0 && msg.Height > 0 { // some terminals don't know theirs
			m.width, m.height = msg.Width, msg.Height
		}
	case arrived:
		return m.arrive(msg).typeOn()
	case searching:
		return m.searchOn(msg.quest)
	case shown:
		lines := strings.Split(strings.TrimRight(msg.text, "\n"), "\n")
		for i := range lines {
			lines[i] = plain(lines[i])
		}
		m.busy, m.reading = "", &sheet{title: msg.title, lines: lines}
		return m.typeOn()
	case tea.PasteMsg:
		if m.asking != nil {
			m.asking = m.asking.with(m.asking.text + strings.Join(strings.Fields(msg.Content), " "))
		}
	case tea.KeyPressMsg:
		return m.press(msg)
	}
	return m, nil
}

// typeOn takes the keys that were typed meanwhile.
func (m model) typeOn() (model, tea.Cmd) {
	var cmd tea.Cmd
	for m.busy == "" && cmd == nil && len(m.typed) > 0 {
		k := m.typed[0]
		m.typed = m.typed[1:]
		m, cmd = m.press(k)
	}
	return m, cmd
}

func (m model) arrive(a arrived) model {
	m.busy, m.note = "", a.note
	if a.err != nil {
		m.note = strings.TrimPrefix(a.err.Error(), "error: ")
		return m
	}
	m.page, m.selected, m.top = a.page, a.selected, [panes]int{}
	return m
}

// searchOn continues with a search, unless it was given up.
func (m model) searchOn(q quest) (model, tea.Cmd) {
	if m.searches.given {
		m.busy, m.note = "", fmt.Sprintf("given up at list %d", q.at)
		return m.typeOn()
	}
	m.busy = fmt.Sprintf("looking for %s: list %d (esc gives up)", q.what, q.at)
	return m, q.goOn
}

// typedMax is how many keys are typed ahead.
const typedMax = 64

func (m model) press(k tea.KeyPressMsg) (model, tea.Cmd) {
	name := k.String()
	switch {
	case name == "ctrl+c":
		return m, tea.Quit
	case m.busy != "" && name == "esc":
		m.searches.given, m.typed = true, nil
		return m, nil
	case m.busy != "" && name == "q" && len(m.typed) == 0:
		return m, tea.Quit
	case m.busy != "":
		if len(m.typed) < typedMax {
			m.typed = append(slices.Clone(m.typed), k)
		}
		return m, nil
	case m.asking != nil:
		return m.answer(name, k.Text)
	case m.reading != nil:
		return m.turn(name), nil
	}
	m.note = ""
	for _, k := range keys() {
		if slices.Contains(k.names, name) {
			return k.do(m)
		}
	}
	m.note = fmt.Sprintf("%s does nothing; ? shows the keys", name)
	return m, nil
}

// ask begins to ask for a line. An empty one repeats what was last said about
// the same matter.
func (m model) ask(label, about string, do func(model, string) (model, tea.Cmd)) (model, tea.Cmd) {
	m.asking = &question{label: label, about: about, empty: m.answers[about], do: do}
	return m, nil
}

// answer takes a key of the line that is being typed.
func (m model) answer(name, text string) (model, tea.Cmd) {
	q := m.asking
	switch name {
	case "esc":
		m.asking = nil
	case "enter", "ctrl+j":
		m.asking = nil
		said := strings.TrimSpace(q.text)
		if said == "" {
			said = q.empty
		}
		if q.about != "" {
			m.answers = maps.Clone(m.answers)
			m.answers[q.about] = said
		}
		return q.do(m, said)
	case "backspace":
		if r := []rune(q.text); len(r) > 0 {
			m.asking = q.with(string(r[:len(r)-1]))
		}
	case "ctrl+u":
		m.asking = q.with("")
	default:
		m.asking = q.with(q.text + text)
	}
	return m, nil
}

func (q *question) with(text string) *question {
	c := *q
	c.text = text
	return &c
}

// sideways is by how many columns a sheet is moved.
const sideways = 20

// turn moves a sheet, or puts it away.
func (m model) turn(name string) model {
	s, page := *m.reading, max(m.height-2, 1)
	switch name {
	case "up", "k":
		s.top--
	case "down", "j", "enter":
		s.top++
	case "pgup", "b":
		s.top -= page
	case "pgdown", "space", "f":
		s.top += page
	case "left":
		s.left = max(s.left-sideways, 0)
	case "right":
		s.left += sideways
	case "home", "g":
		s.top, s.left = 0, 0
	case "end", "G":
		s.top = len(s.lines)
	case "esc", "q", "?":
		m.reading = nil
		return m
	}
	s.top = max(min(s.top, len(s.lines)-page), 0)
	m.reading = &s
	return m
}

// load goes to a list.
func (m model) load(seq uint64) (model, tea.Cmd) {
	m.busy = "reading"
	return m, goTo(m.Tape, seq, "")
}

// step continues by some lists, or back.
func (m model) step(n int64) (model, tea.Cmd) {
	first, last := m.Tape.Span()
	at := m.page.List.Seq
	switch {
	case n < 0 && at <= first.Seq:
		m.note = "this is where the log begins"
		return m, nil
	case n > 0 && at >= last.Seq:
		m.note = "this is the end of the log"
		return m, nil
	case n < 0:
		return m.load(max(at-min(uint64(-n), at), first.Seq))
	}
	return m.load(min(at+uint64(n), last.Seq))
}

// find begins a search.
func (m model) find(q quest) (model, tea.Cmd) {
	q.tape, q.from, q.at = m.Tape, m.page.List.Seq, m.page.List.Seq
	m.searches, m.busy = q, "looking for "+q.what
	return m, q.goOn
}

// findWhere searches for what a condition lets through.
func (m model) findWhere(what, condition, value string, back bool) (model, tea.Cmd) {
	f := &filter.Filter{}
	if err := f.Add(condition, value); err != nil {
		m.note = err.Error()
		return m, nil
	}
	q := quest{what: what + " " + value, back: back}
	q.match, q.needsState = passes(f)
	return m.find(q)
}

// findText searches for what says a text.
func (m model) findText(text string, back bool) (model, tea.Cmd) {
	if text == "" {
		m.note = "nothing was searched for; / does it"
		return m, nil
	}
	return m.find(quest{what: fmt.Sprintf("%q", text), match: says(text), back: back})
}

// goToMoment goes where the words of a user point.
func (m model) goToMoment(text string) (model, tea.Cmd) {
	first, last := m.Tape.Span()
	at, err := opt.ParseMoment(text, last.At.Std().In(m.Zone))
	switch {
	case err != nil:
		m.note = err.Error()
		return m, nil
	case at.Seq == 0:
		m.busy = "reading"
		return m, goToTime(m.Tape, at.At)
	case at.Seq < first.Seq || at.Seq > last.Seq:
		m.note = fmt.Sprintf("list %d is not in the log: it has %d to %d", at.Seq, first.Seq, last.Seq)
		return m, nil
	}
	return m.load(at.Seq)
}

// shown is what a command printed.
type shown struct{ title, text string }

// show runs a showing command on this page.
func (m model) show(line string) (model, tea.Cmd) {
	words := strings.Fields(line)
	if len(words) == 0 {
		return m, nil
	}
	m.busy = line
	p := m.page
	return m, func() tea.Msg { return shown{title: line, text: m.Show(words, p)} }
}
