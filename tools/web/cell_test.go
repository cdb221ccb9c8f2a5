package web

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/orders"
	"github.com/quill-grid/quill/pkg/bus"
	"github.com/quill-grid/quill/pkg/client"
	"github.com/quill-grid/quill/pkg/codec"
	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/history"
	"github.com/quill-grid/quill/pkg/report"
	"github.com/quill-grid/quill/pkg/state"
	"github.com/quill-grid/quill/pkg/submit"
	"github.com/quill-grid/quill/pkg/switches"
	"github.com/quill-grid/quill/qmaster/core"
	"github.com/quill-grid/quill/schedd/algorithm/shipped"
	"github.com/quill-grid/quill/schedd/couple"
	"github.com/quill-grid/quill/tools/web/entry"
	"github.com/quill-grid/quill/tools/web/past"
)

// testCell is qmaster's core with a scheduler, and the API over it: no process, no network.
type testCell struct {
	t      testing.TB
	c      *couple.Couple
	server *Server
	stop   func()

	mu     sync.Mutex
	now    grid.Time
	lists  []events.List
	done   []orders.Record // scheduling runs
	file   *file           // that all output files are
	sink   events.Sink     // of the mirror
	gone   map[string]bool
	scopes map[string]grid.Scope // of tokens; others have all
	cut    uint64                // where the log begins, when it was cut

	browser browser
	guesses int    // wrong tokens that were sent
	silent  bool   // answers of qmaster are lost
	plain   bool   // how jobs were submitted is as users write it, for pictures
	from    string // address of requests; "": that of httptest
}

// begun is when a cell begins: Monday, 2 March 2026.
var begun = time.Date(2026, 3, 2, 8, 0, 0, 0, time.UTC)

// newCell makes a cell whose manager is root and whose operator is olga, with the mirror of a server.
func newCell(t testing.TB, hosts int) *testCell {
	c := &testCell{t: t, now: grid.TimeOf(begun), gone: map[string]bool{}}
	s := state.New()
	fresh := core.Fresh(c.now, "root", "master")
	s.Apply(fresh)
	c.lists = []events.List{fresh}
	c.c = couple.New(s, shipped.Algorithms())
	c.c.Core.Reads(core.Format{Body: codec.DecodeBody, AppendReply: codec.AppendReply, Reply: codec.DecodeReply})
	if err := c.c.Register(); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	c.server = New(Options{Cell: "default", Feed: c, Accounts: c.account, History: c.history, Now: func() time.Time {
		return c.time().Std()
	}})
	c.server.cell.partWait = time.Hour // a transcript has the whole page
	c.server.cell.trials.nice = 0      // a busy machine would let the tests wait for very long
	followed := make(chan error)
	go func() { followed <- c.server.mirror.Follow(ctx, c, func(error) {}) }()
	c.stop = sync.OnceFunc(func() { stop(); <-followed })
	t.Cleanup(c.stop)
	c.server.mirror.WaitFor(ctx, 1, time.Minute)
	for i := range hosts {
		c.step(core.Report{Report: report.Report{Host: fmt.Sprintf("h%d", i+1), Hello: true, Load: &report.Load{
			Processors: 1, At: c.time(), Values: grid.Values{{Name: "load_avg", Text: "0.25"},
				{Name: "np_load_avg", Text: "0.25"}, {Name: "num_proc", Text: "1"}}}}})
	}
	c.ask("root", "", &gdi.Add{Objects: []grid.Object{&grid.Operator{Name: "olga"}}})
	return c
}

func (c *testCell) time() grid.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

// Watch implements Feed: the full state, then every list.
func (c *testCell) Watch(ctx context.Context, w client.Watcher) error {
	c.mu.Lock()
	c.sink = w.Fresh()
	c.sink.Apply(public(c.c.Core.State().FullList()))
	w.Full(1, c.c.Core.State().Seq)
	c.mu.Unlock()
	<-ctx.Done()
	return nil
}

// public is what users see of a list.
func public(l events.List) events.List {
	l.Events = slices.Clone(l.Events)
	for i := range l.Events {
		if l.Events[i].Object != nil {
			l.Events[i].Object = grid.Public(l.Events[i].Object)
		}
	}
	return l
}

func (c *testCell) step(in core.Input) core.Ready {
	c.mu.Lock()
	defer c.mu.Unlock()
	r := c.c.Step(c.now, in)
	if len(r.List.Events) > 0 {
		c.lists = append(c.lists, r.List)
		c.sink.Apply(public(r.List))
		if slices.ContainsFunc(r.List.Events, func(e events.Event) bool { return e.Kind == grid.KindSchedConf }) {
			if err := c.c.Register(); err != nil { // as schedd does with another configuration
				c.t.Error(err)
			}
		}
	}
	return r
}

func (c *testCell) ask(user, id string, b gdi.Body) gdi.Reply {
	host := "master"
	r := c.step(
		core.UserRequest{Request: gdi.Request{ID: id, User: user, Group: "users", Host: host, Command: b.Verb(), Body: b}})
	if r.Recall { // as after a start: the log has nothing more
		r = c.step(core.Recalled{})
	}
	for _, read := range r.Reads {
		return c.read(read)
	}
	for _, a := range r.Answers {
		if a.Reply != nil {
			reply := *a.Reply
			if len(r.List.Events) > 0 {
				reply.Seq = r.List.Seq
			}
			return reply
		}
	}
	c.t.Errorf("no answer to %s", b.Verb())
	return gdi.Reply{}
}

// proposeWords proposes to delete the jobs of the first line, or to submit the script that the text is, and returns the
// answer.
func (c *testCell) proposeWords(user, text string) (out string) {
	var b gdi.Body
	if strings.HasPrefix(text, "#!") {
		q := submit.Qsub(submit.Origin{Stdin: strings.NewReader(text), Host: "master", Now: c.server.options.Now, Away: true,
			Getenv: func(string) string { return "" }})
		j := q.New(nil)
		err := q.Parse(j, nil)
		if err == nil {
			j, err = j.Complete()
		}
		if err != nil {
			c.t.Fatal(err)
		}
		b = &gdi.Submit{Job: j.Job}
	} else {
		refs, err := switches.JobRefs(text)
		if err != nil {
			c.t.Fatal(err)
		}
		b = &gdi.DeleteJobs{Jobs: gdi.Jobs{Refs: refs}}
	}
	for _, a := range c.propose(user, b).Answers {
		out += a.Text + "\n"
	}
	return out
}

// propose proposes a request as a program of a user.
func (c *testCell) propose(user string, b gdi.Body) gdi.Reply {
	return c.ask(user, "", &gdi.Propose{Agent: "tidy 1.0", Reason: "they wait for nothing",
		Changes: [][]byte{codec.AppendBody(nil, b)}})
}

// run has the scheduler decide.
func (c *testCell) run() {
	c.mu.Lock()
	c.now = c.now.Add(15)
	list, decide := c.c.Begin(c.now, true)
	list.At, list.Last = c.now, true
	list.Orders = slices.Collect(decide)
	c.mu.Unlock()
	if len(list.Orders) > 0 {
		for _, a := range c.step(core.Orders{List: orders.List(list)}).Answers {
			if a.Result != nil {
				c.mu.Lock()
				c.done = append(c.done, orders.Record{List: list, Result: *a.Result})
				c.mu.Unlock()
			}
		}
	}
}

// end has the started tasks of a job report their end, ten seconds later.
func (c *testCell) end(job uint32, exit uint32) {
	c.mu.Lock()
	c.now = c.now.Add(10)
	var reports []report.Report
	for _, task := range c.c.Core.State().Tasks(job) {
		if !task.Started() {
			continue
		}
		one := report.Task{Attempt: report.Attempt{Job: job, Task: task.ID, N: task.Attempt}, Phase: report.Ended,
			Start:  task.Start,
			Usage:  grid.Usage{CPU: 1.5, WallSeconds: 10},
			Result: &report.Result{Start: task.Start, End: c.now, ExitStatus: exit}}
		reports = append(reports, report.Report{Host: task.Grants[0].Host, Tasks: []report.Task{one}})
	}
	c.mu.Unlock()
	for _, r := range reports {
		c.step(core.Report{Report: r})
	}
}

// runs has the host of a task report that it runs.
func (c *testCell) runs(job uint32) {
	t := c.c.Core.State().Tasks(job)[0]
	c.step(core.Report{Report: report.Report{Host: t.Grants[0].Host, Tasks: []report.Task{{
		Attempt: report.Attempt{Job: job, Task: t.ID, N: t.Attempt}, Phase: report.Running, Start: c.time(),
	}}}})
}

// file is an output file.
type file struct {
	path string
	text string
	read func() // called with each reading, after it; nil: nothing happens
}

// writes has the output files of all jobs be this one.
func (c *testCell) writes(path, text string) { c.file = &file{path: path, text: text} }

// changes has the file change as it is read.
func (c *testCell) changes(d *datadriven.TestData) {
	var then string
	var last uint32
	if !d.MaybeScanArgs(c.t.(*testing.T), "then", &then) {
		return
	}
	d.ScanArgs(c.t.(*testing.T), "last", &last)
	readings := 0
	c.file.read = func() {
		switch readings++; readings {
		case 1:
			c.file.text, _ = strconv.Unquote(`"` + then + `"`)
		case 2:
			c.end(last, 0)
		}
	}
}

// read reads the file as a host does; tail is not more than lines of it.
func (c *testCell) read(r core.Read) gdi.Reply {
	f := c.file
	if f == nil {
		no := gdi.Deny(gdi.StatusUnknown, "host "+r.Host+": can't open \"/out\": No such file or directory")
		no.Field = "o"
		return gdi.Reply{Answers: []gdi.Answer{no}}
	}
	p := &gdi.Part{Host: r.Host, Path: f.path, Size: uint64(len(f.text)), Offset: r.Offset, Running: r.Running}
	if r.Tail > 0 {
		lines := strings.SplitAfter(f.text, "\n")
		keep := len(strings.Join(lines[max(0, len(lines)-1-int(r.Tail)):], ""))
		p.Offset = p.Size - uint64(keep)
	}
	if p.Offset > p.Size {
		p.Offset, p.Truncated = 0, true
	}
	p.Data, p.Next = []byte(f.text[p.Offset:]), p.Size
	if f.read != nil {
		f.read()
	}
	return gdi.Reply{Answers: []gdi.Answer{gdi.Done("")}, Output: p}
}

// testStretch is the log of a cell in memory, from first on.
type testStretch struct {
	lists []events.List
	first uint64
	full  bool // has a state
	runs  []orders.Record
}

func (p *testStretch) mark(seq uint64) history.Mark {
	return history.Mark{Seq: seq, At: p.lists[max(seq, 1)-1].At}
}
func (p *testStretch) Span() (first, last history.Mark) {
	return p.mark(p.first), p.mark(uint64(len(p.lists)))
}
func (p *testStretch) SeqAt(t grid.Time) (seq uint64, err error) {
	for _, l := range p.lists {
		if l.At <= t {
			seq = l.Seq
		}
	}
	if seq == 0 {
		err = errors.New("it begins later")
	}
	return seq, err
}
func (p *testStretch) Lists(from uint64) iter.Seq2[events.List, error] {
	return func(yield func(events.List, error) bool) {
		for _, l := range p.lists[max(from, 1)-1:] {
			if !yield(l, nil) {
				return
			}
		}
	}
}
func (p *testStretch) Full(seq uint64) (*state.State, error) {
	if !p.full {
		return nil, errors.New("there is no state")
	}
	s := state.New()
	for _, l := range p.lists[:max(seq, p.first)] {
		s.Apply(l)
	}
	return s, nil
}
func (p *testStretch) Runs(from uint64) iter.Seq2[orders.Record, error] {
	return func(yield func(orders.Record, error) bool) {
		for _, r := range p.runs {
			if r.List.Seq >= from && !yield(r, nil) {
				return
			}
		}
	}
}
func (p *testStretch) Close() error { return nil }

// history implements History: all lists from a number on, private fields too, as a manager gets them.
func (c *testCell) history(_ context.Context, _ entry.Account, from, _ gdi.Place, lists bool) (past.Stretch, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return &testStretch{slices.Clone(c.lists), max(c.cut, from.Seq, 1), !lists, slices.Clone(c.done)}, nil
}

// account implements Accounts: the token of a user is the name with "token-" before it.
func (c *testCell) account(_ context.Context, token string) (entry.Account, error) {
	user, ok := strings.CutPrefix(token, "token-")
	if number, _, is := bus.ParseToken(token); is { // of a log-in
		c.mu.Lock()
		defer c.mu.Unlock()
		t := c.c.Core.State().Token(number)
		return &bearer{c, t.Owner}, nil
	}
	if !ok || c.gone[user] {
		return nil, entry.ErrToken
	}
	return &bearer{c, user}, nil
}

// bearer is an account of the test.
type bearer struct {
	*testCell
	user string
}

func (b *bearer) History(context.Context, gdi.History, io.Writer) error {
	return errors.New("the log is that of the test's cell")
}

func (b *bearer) User() string                       { return b.user }
func (b *bearer) Valid(*state.State, grid.Time) bool { return !b.gone[b.user] }
func (b *bearer) Scope() grid.Scope {
	if scope, ok := b.scopes[b.user]; ok {
		return scope
	}
	return grid.ScopeOperate
}
func (b *bearer) Close() error { return nil }
func (b *bearer) Revoke(context.Context) error {
	b.gone[b.user] = true
	return nil
}
func (b *bearer) Do(ctx context.Context, id, _ string, body gdi.Body) (gdi.Reply, error) {
	reply := b.ask(b.user, id, body)
	if b.silent {
		<-ctx.Done()
		return gdi.Reply{}, ctx.Err()
	}
	return reply, nil
}

func (b *bearer) Get(_ context.Context, get gdi.Get, each func(grid.Object) error) (err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	core.Query(b.c.Core.State(), get, func(o grid.Object) bool {
		if j, is := o.(*grid.Job); is && j.Owner != b.user && b.user != "root" {
			o = grid.Public(o)
		}
		if p, is := o.(*grid.Proposal); is && p.User != b.user && b.user != "root" {
			return true
		}
		err = each(o)
		return err == nil
	})
	return err
}

// request sends a request without a network.
func (c *testCell) request(method, target, body string, header http.Header) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, target, io.NopCloser(strings.NewReader(body)))
	for name, values := range header {
		r.Header[name] = values
	}
	if c.from != "" {
		r.RemoteAddr = c.from
	}
	w := httptest.NewRecorder()
	c.server.handler.ServeHTTP(w, r)
	return w
}
