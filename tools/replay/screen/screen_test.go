package screen_test

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
	"github.com/cockroachdb/datadriven"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/orders"
	"github.com/quill-grid/quill/pkg/conf"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/history"
	"github.com/quill-grid/quill/pkg/opt/opttest"
	"github.com/quill-grid/quill/pkg/state"
	"github.com/quill-grid/quill/tools/replay/screen"
)

func TestMain(m *testing.M) {
	time.Local = time.UTC
	os.Exit(m.Run())
}

// tape is a short log in memory.
type tape struct {
	lists   []events.List
	from    uint64 // the log begins with the state after this list
	records map[uint64]*orders.Record
	s       *state.State
}

func (t *tape) Span() (first, last history.Mark) {
	at := t.lists[max(t.from, 1)-1]
	end := t.lists[len(t.lists)-1]
	return history.Mark{Seq: at.Seq, At: at.At}, history.Mark{Seq: end.Seq, At: end.At}
}

func (t *tape) SeqAt(at grid.Time) (uint64, error) {
	first, _ := t.Span()
	if at < first.At {
		return 0, fmt.Errorf("the log begins at %s", first.At.Std().Format("15:04:05"))
	}
	seq := first.Seq
	for _, l := range t.lists {
		if l.At <= at {
			seq = max(seq, l.Seq)
		}
	}
	return seq, nil
}

func (t *tape) Seek(seq uint64) (*state.State, error) {
	if seq < t.from {
		return nil, errors.New("not in the log")
	}
	t.s = state.New()
	for _, l := range t.lists[:seq] {
		t.s.Apply(l)
	}
	return t.State(), nil
}

func (t *tape) State() *state.State { return t.s.Copy() }

func (t *tape) Next() (events.List, error) {
	l := t.lists[t.s.Seq]
	t.s.Apply(l)
	return l, nil
}

func (t *tape) Record(l events.List) (*orders.Record, error) { return t.records[l.Seq], nil }

// smallCell is the log of a small cell: two jobs, a run that starts them and has
// an order refused, a changed queue, the end of a job.
func smallCell() *tape {
	now := opttest.CellTime
	t := &tape{}
	add := func(who, what, ref string, es ...events.Event) {
		now += 1500
		t.lists = append(t.lists,
			events.List{Seq: uint64(len(t.lists) + 1), At: now, Cause: events.Cause{Who: who, What: what, Ref: ref}, Events: es})
	}
	var cell []events.Event
	for _, o := range opttest.SmallCell() {
		switch o.Kind() {
		case grid.KindJob, grid.KindJATask, grid.KindJobScheddInfo:
		default:
			cell = append(cell, events.Add(o))
		}
	}
	add("qmaster", "install", "", cell...)
	job := func(id uint32, owner, name string) *grid.Job {
		one := grid.Range{First: 1, Last: 1, Step: 1}
		return &grid.Job{JobRequest: &grid.JobRequest{}, ID: id, Version: 1, Name: name, Owner: owner, Tasks: one,
			Pending: grid.Ranges{one},
			Spec:    &grid.JobSpec{Command: "sleep", Args: []string{"60"}}}
	}
	add("alice@master", "qsub", "r1", events.Add(job(1, "alice", "sleep")))
	add("bob@master", "qsub", "r2", events.Add(job(2, "bob", "name\x1b[31m")))
	task := func(id uint32, status grid.Status, host string) *grid.JATask {
		return &grid.JATask{Job: id, ID: 1, Attempt: 1, Status: status, State: grid.StateRunning,
			Grants: []grid.Grant{{Queue: "all.q", Host: host, Slots: 1}}}
	}
	add("schedd", "orders", "7", events.Add(task(1, grid.Transfering, "node1")),
		events.Add(task(2, grid.Transfering, "node2")))
	t.records = map[uint64]*orders.Record{4: {
		List: orders.List{Seq: 3, Run: 7, Algorithm: "default", Orders: []orders.Order{
			&orders.StartJob{Job: 1, Task: 1, Grants: []grid.Grant{{Queue: "all.q", Host: "node1", Slots: 1}}},
			&orders.StartJob{Job: 2, Task: 1, Grants: []grid.Grant{{Queue: "all.q", Host: "node2", Slots: 1}}},
			&orders.StartJob{Job: 3, Task: 1, Grants: []grid.Grant{{Queue: "all.q", Host: "node2", Slots: 1}}},
		}},
		Result: orders.Answer{
			Seq: 4, Refused: []orders.Refusal{{Index: 2, Code: orders.Unknown, Reason: "job 3 does not exist"}}},
	}}
	add("node1", "report", "", events.Mod(task(1, grid.Running, "node1")))
	queue := grid.Default(grid.KindCQueue, "all.q")
	for _, a := range [][2]string{{"hostlist", "@allhosts"}, {"slots", "8"}, {"pe_list", "make smp mpi"}} {
		var err error
		if queue, err = conf.Set(queue, a[0], a[1]); err != nil {
			panic(err)
		}
	}
	add("root@master", "qconf", "r3", events.Mod(queue))
	add("node1", "report", "", events.Del(grid.KindJATask, grid.Key{ID: 1, Sub: 1}),
		events.Del(grid.KindJob, grid.Key{ID: 1}),
		events.Add(&grid.Accounting{Job: 1, Task: 1, Owner: "alice", Queue: "all.q", Host: "node1", Start: 1000, End: 61000}))
	add("schedd", "orders", "8", events.Mod(&grid.Priority{Job: 2, Priority: 0.5}))
	return t
}

// session is one view at work.
type session struct {
	model tea.Model
	quit  bool
	hold  bool // Cmds take their time
	held  []tea.Cmd
}

// do gives the model a message, and then what its Cmds bring back.
func (s *session) do(msg tea.Msg) {
	for msg != nil {
		if _, ok := msg.(tea.QuitMsg); ok {
			s.quit = true
			return
		}
		var cmd tea.Cmd
		s.model, cmd = s.model.Update(msg)
		if msg = nil; s.hold && cmd != nil {
			s.held = append(s.held, cmd)
		} else if cmd != nil {
			msg = cmd()
		}
	}
}

// slowly presses keys while what the first of them asks for takes its time.
func (s *session) slowly(words []string) {
	s.hold = true
	for _, word := range words {
		s.press(word)
	}
	s.hold = false
	for _, cmd := range s.held {
		s.do(cmd())
	}
	s.held = nil
}

// named are keys that are no letters.
var named = map[string]rune{"enter": tea.KeyEnter, "esc": tea.KeyEscape, "tab": tea.KeyTab, "up": tea.KeyUp,
	"down": tea.KeyDown,
	"left": tea.KeyLeft, "right": tea.KeyRight, "home": tea.KeyHome, "end": tea.KeyEnd, "pgup": tea.KeyPgUp,
	"pgdown": tea.KeyPgDown, "backspace": tea.KeyBackspace}

func (s *session) press(word string) {
	if word == "space" {
		word = " "
	}
	if code, ok := named[word]; ok {
		s.do(tea.KeyPressMsg{Code: code})
		return
	}
	for _, r := range word {
		s.do(tea.KeyPressMsg{Code: r, Text: string(r)})
	}
}

// screen checks that the screen has the size it should have.
func (s *session) screen(t *testing.T, width, height int) string {
	lines := strings.Split(ansi.Strip(s.model.View().Content), "\n")
	if len(lines) != height {
		t.Errorf("%d lines, want %d", len(lines), height)
	}
	for i, l := range lines {
		if ansi.StringWidth(l) != width {
			t.Errorf("line %d has %d columns, want %d: %q", i, ansi.StringWidth(l), width, l)
		}
		lines[i] = strings.TrimRight(l, " ")
	}
	return strings.Join(lines, "\n") + "\n"
}

// TestTranscripts runs the sessions in testdata: `open [from=SEQ] [at=SEQ]`,
// `size W H`, and `keys`, whose input is words that are typed and names of keys;
// with `fast` they are typed before the log was read.
func TestTranscripts(t *testing.T) {
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		var s *session
		width, height := 80, 24
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			switch d.Cmd {
			case "open":
				tape, start := smallCell(), uint64(4)
				for _, a := range d.CmdArgs {
					var n uint64
					fmt.Sscan(a.Vals[0], &n)
					if a.Key == "from" {
						tape.from = n
					} else {
						start = n
					}
				}
				m := screen.New(screen.Options{Tape: tape, Name: "/cells/one", Zone: time.UTC, Start: start,
					Commands: []string{"qstat", "qconf"},
					Show: func(words []string, p screen.Page) string {
						return fmt.Sprintf("%s, asked after list %d\n", strings.Join(words, " "), p.List.Seq)
					}})
				s = &session{model: m}
				s.do(m.Init()())
			case "size":
				fmt.Sscan(d.CmdArgs[0].Key, &width)
				fmt.Sscan(d.CmdArgs[1].Key, &height)
				s.do(tea.WindowSizeMsg{Width: width, Height: height})
			case "keys":
				words := strings.Fields(d.Input)
				if d.HasArg("fast") {
					s.slowly(words)
					break
				}
				for _, word := range words {
					s.press(word)
				}
			default:
				t.Fatalf("unknown command %q", d.Cmd)
			}
			if s.quit {
				return "quit\n"
			}
			if d.HasArg("note") { // only what is said at the bottom
				lines := strings.Split(s.screen(t, width, height), "\n")
				return lines[0] + "\n" + lines[height-2] + "\n"
			}
			return s.screen(t, width, height)
		})
	})
}

// A search of a long log continues in pieces, and can be given up.
func TestSearchIsGivenUp(t *testing.T) {
	long := &tape{}
	for i := range uint64(50_000) {
		long.lists = append(long.lists,
			events.List{Seq: i + 1, At: opttest.CellTime,
				Events: []events.Event{events.Mod(&grid.Counter{Name: "n", Value: i})}})
	}
	m := screen.New(screen.Options{Tape: long, Zone: time.UTC, Start: 1})
	s := &session{model: m}
	s.do(m.Init()())
	last := func() string { return strings.TrimSpace(strings.Split(s.screen(t, 80, 24), "\n")[22]) }
	s.press("/")
	s.press("value=33333")
	s.press("enter")
	if at := s.screen(t, 80, 24); !strings.Contains(at, "list 33334 of") {
		t.Error(at)
	}
	s.press("home")
	s.press("/")
	s.press("none")
	s.slowly([]string{"enter", "esc"})
	if want := "given up at list 16385"; last() != want {
		t.Errorf("%s, want %s", last(), want)
	}
	s.slowly([]string{"n", "n", "n"})
	if at := s.screen(t, 80, 24); !strings.Contains(at, "list 4 of") {
		t.Error(at)
	}
}
