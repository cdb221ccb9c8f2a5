package web

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/pkg/conf"
	"github.com/quill-grid/quill/pkg/fair"
	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/opt"
	"github.com/quill-grid/quill/schedd/algorithm/shipped"
	"github.com/quill-grid/quill/tools/console"
	"github.com/quill-grid/quill/tools/outcome"
	"github.com/quill-grid/quill/tools/web/past"
	"github.com/quill-grid/quill/tools/whatif"
)

// Bounds of comparisons. Each repeats a stretch of the log once for each algorithm, on a thread that gives way to all
// others.
const (
	trialLists   = 200_000 // event lists
	trialsQueued = 8
	trialsKept   = 20
	trialLongest = 15 * time.Minute
	trialNice    = 19
	readPart     = 0.1 // of the work is to read the log
)

// trials are the comparisons that users have asked for.
type trials struct {
	mu   sync.Mutex
	last int
	kept []*trial     // the newest first
	turn *fair.Places // one is made at a time
	nice int          // of the thread that makes it
}

func newTrialTurns() *fair.Places {
	return fair.NewPlaces("comparisons", fair.Limits{Total: 1, Waiting: 1})
}

// trial is a comparison. What pages show is under the lock of trials.
type trial struct {
	console.Trial
	owner    string
	from, to gdi.Place
	variants []variant
	stop     context.CancelFunc
	ended    chan struct{} // closed at the end
}

// variant is one way in which it might have been.
type variant struct {
	name string
	whatif.Scenario
}

func (c *consoleCell) Try(s console.Session, w console.WhatIf) (string, error) {
	t := &trial{owner: s.User(), ended: make(chan struct{}),
		Trial: console.Trial{WhatIf: w, Asked: c.options.Now(), Step: "waits for its turn",
			Compared: outcome.Comparison{Workload: "the cell", Unit: "tasks", Machine: "slots"}}}
	var err error
	for _, place := range []struct {
		field, text string
		to          *gdi.Place
	}{{"from", w.From, &t.from}, {"to", w.To, &t.to}} {
		if place.text == "" {
			continue
		}
		if *place.to, err = opt.ParseMoment(place.text, c.options.Now()); err != nil {
			return "", &console.Problem{Status: http.StatusUnprocessableEntity, Field: place.field, Text: err.Error()}
		}
	}
	if t.variants, err = c.variantsOf(w); err != nil {
		return "", err
	}
	ctx, cancel := context.WithCancel(context.Background())
	t.stop = cancel
	c.trials.mu.Lock()
	defer c.trials.mu.Unlock()
	open := 0
	for _, other := range c.trials.kept {
		if other.Step == "" {
			continue
		}
		if open++; other.owner == t.owner || open >= trialsQueued {
			cancel()
			text := "Too many comparisons wait for their turn."
			if other.owner == t.owner {
				text = "A comparison of yours runs: wait for its end, or cancel it."
			}
			return "", &console.Problem{Status: http.StatusTooManyRequests, Field: "from", Text: text}
		}
	}
	c.trials.last++
	t.ID = strconv.Itoa(c.trials.last)
	c.trials.kept = append([]*trial{t}, c.trials.kept[:min(len(c.trials.kept), trialsKept-1)]...)
	go c.runTrial(ctx, t)
	return t.ID, nil
}

// variantsOf returns what a form asks for. The error is a problem.
func (c *consoleCell) variantsOf(w console.WhatIf) (out []variant, err error) {
	var o whatif.Scenario
	var words []string
	wrong := func(field string, err error) error {
		return &console.Problem{Status: http.StatusUnprocessableEntity, Field: field, Text: err.Error()}
	}
	if w.Conf != "" {
		o.Conf = grid.DefaultSchedConf()
		if err := conf.Parse(w.Conf, o.Conf); err != nil {
			return nil, wrong("conf", err)
		}
		words = append(words, "changed configuration")
	}
	if w.Tree != "" {
		tree := &grid.ShareTree{}
		if err := conf.Parse(w.Tree, tree); err != nil {
			return nil, wrong("tree", err)
		}
		o.Objects, words = append(o.Objects, tree), append(words, "changed share tree")
	}
	at, err := c.mirror.Now()
	if err != nil {
		return nil, wrong("from", err)
	}
	for name, text := range w.Shares {
		p := at.State.Project(name)
		shares, bad := strconv.ParseUint(text, 10, 32)
		if p == nil || bad != nil {
			return nil, wrong("shares", fmt.Errorf("the shares of project %s are a whole number, not %q", name, text))
		}
		other := *p
		other.FShare = uint32(shares)
		o.Objects = append(o.Objects, &other)
	}
	if len(w.Shares) > 0 {
		words = append(words, "changed shares")
	}
	names, err := shipped.Named(w.Algorithms)
	if err != nil {
		return nil, wrong("algorithm", err)
	}
	if len(names) == 0 {
		if len(words) == 0 {
			words = []string{"as it was"}
		}
		return []variant{{strings.Join(words, ", "), o}}, nil
	}
	for _, name := range names {
		o.Algorithm = name
		out = append(out, variant{strings.Join(append(slices.Clone(words), name), ", "), o})
	}
	return out, nil
}

func (c *consoleCell) Trials(s console.Session, id string) (out []console.Trial) {
	c.trials.mu.Lock()
	defer c.trials.mu.Unlock()
	for _, t := range c.trials.kept {
		if t.owner == s.User() && (id == "" || t.ID == id) {
			out = append(out, t.Trial)
		}
	}
	return out
}

func (c *consoleCell) TrialBounds() (lists uint64, longest time.Duration) {
	return trialLists, trialLongest
}

func (c *consoleCell) Cancel(s console.Session, id string) {
	c.trials.mu.Lock()
	defer c.trials.mu.Unlock()
	for _, t := range c.trials.kept {
		if t.owner == s.User() && t.ID == id {
			t.stop()
		}
	}
}

// updateTrial changes what pages show of a comparison.
func (c *consoleCell) updateTrial(t *trial, change func(*console.Trial)) {
	c.trials.mu.Lock()
	defer c.trials.mu.Unlock()
	change(&t.Trial)
}

// runTrial makes a comparison when it is its turn. The thread ends with it: its priority is not given back.
func (c *consoleCell) runTrial(ctx context.Context, t *trial) {
	defer close(t.ended)
	defer t.stop()
	leave, err := c.trials.turn.Wait(ctx, fair.User{Name: t.owner}, 1)
	if err == nil {
		deadline := time.Now().Add(trialLongest)
		var cancel context.CancelFunc
		ctx, cancel = context.WithDeadline(ctx, deadline)
		defer cancel()
		c.updateTrial(t, func(t *console.Trial) { t.Deadline = c.options.Now().Add(trialLongest) })
		runtime.LockOSThread()
		if bad := unix.Setpriority(unix.PRIO_PROCESS, unix.Gettid(), c.trials.nice); bad != nil {
			c.options.Logger.Warn("a what-if does not give way to other threads", "error", bad)
		}
		err = c.replayVariants(ctx, t)
		leave()
	}
	c.updateTrial(t, func(t *console.Trial) {
		t.Step, t.Part, t.At = "", 1, 0
		switch {
		case err == nil:
		case ctx.Err() == context.Canceled:
			t.Failed = "It was cancelled." + partialText(t)
		case ctx.Err() != nil:
			t.Failed = fmt.Sprintf("It took longer than %s. Choose a shorter stretch, or fewer algorithms.", trialLongest) +
				partialText(t)
		default:
			t.Failed = pageError(err).Error()
		}
	})
}

// partialText returns a sentence about the result of an interrupted comparison, "" without one.
func partialText(t *console.Trial) string {
	if len(t.Compared.Columns) == 0 {
		return ""
	}
	return " What was compared until then is below."
}

// replayVariants replays the stretch under each variant. Each has the same part of the time that is left for those to
// come; one that needs more is compared as far as it came.
func (c *consoleCell) replayVariants(ctx context.Context, t *trial) (err error) {
	defer func() {
		if caught := recover(); caught != nil {
			c.options.Logger.Error("a what-if ended with a panic", "error", fmt.Sprint(caught))
			err = fmt.Errorf("the server has a bug; its log has more")
		}
	}()
	r, err := c.readRecorded(ctx, t)
	if err != nil {
		return err
	}
	begin, length := r.Start.At, float64(max(r.Last-r.Start.At, 1))
	each := (1 - readPart) / float64(len(t.variants))
	for i, v := range t.variants {
		done := readPart + each*float64(i)
		c.updateTrial(t, func(t *console.Trial) { t.Step, t.Part, t.At = "replays: "+v.name, done, begin })
		shown := time.Now()
		v.Progress = func(at grid.Time) {
			if time.Since(shown) < 100*time.Millisecond {
				return
			}
			shown = time.Now()
			c.updateTrial(t, func(t *console.Trial) { t.Part, t.At = done+each*min(float64(at-begin)/length, 1), at })
		}
		v.OnlyEnded = true
		replayed, interrupted := replayInPart(ctx, r, v.Scenario, len(t.variants)-i)
		if interrupted != nil && (replayed == nil || !isEnded(interrupted)) {
			return interrupted
		}
		then, now, left := whatif.Compare(r, replayed, v.name)
		if len(then.Jobs) == 0 {
			return cmp.Or(interrupted, fmt.Errorf("no task has ended in both: choose a longer stretch"))
		}
		c.updateTrial(t, func(t *console.Trial) {
			recorded := outcome.Comparison{}
			recorded.Add(then, 0, 0)
			n := len(t.Compared.Columns)
			if n == 0 || t.Compared.Columns[0].Of.Window < then.Window { // or the first variant was interrupted
				t.Compared.Columns = append(recorded.Columns, t.Compared.Columns[min(n, 1):]...)
			}
			t.Compared.Add(now, 0, 0)
			if replayed.Until < r.Last {
				t.Notes = append(t.Notes, fmt.Sprintf("%s: interrupted, and compared up to %s only.", v.name,
					replayed.Until.Std().UTC().Format("2006-01-02 15:04:05 UTC")))
			}
			t.Notes = append(t.Notes, notesOf(v.name, replayed, left)...)
		})
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	return nil
}

// isEnded reports whether an error is that of a context that has ended.
func isEnded(err error) bool {
	return errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}

// replayInPart replays one of so many variants, in its part of the time that is left.
func replayInPart(ctx context.Context, r *whatif.Recorded, s whatif.Scenario, variants int) (*whatif.Replayed, error) {
	if deadline, has := ctx.Deadline(); has {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, time.Until(deadline)/time.Duration(variants))
		defer cancel()
	}
	return whatif.Replay(ctx, r, s)
}

// notesOf returns what the table cannot show.
func notesOf(name string, p *whatif.Replayed, left int) (out []string) {
	if left > 0 {
		out = append(out, fmt.Sprintf("%s: %d tasks ended in one of the two only and are not compared.", name, left))
	}
	if p.Held > 0 {
		out = append(out, fmt.Sprintf("%s: %s.", name, p.HeldText()))
	}
	if p.Waiting > 0 {
		out = append(out, fmt.Sprintf("%s: %d tasks would wait without end, of jobs %s.", name, p.Waiting,
			strings.Join(p.Stuck[:min(len(p.Stuck), 5)], ", ")))
	}
	if n := len(p.Refused); n > 0 {
		out = append(out, fmt.Sprintf("%s: %d refused, the first: %s", name, n, p.Refused[0]))
	}
	return out
}

// readRecorded reads the stretch: the state before it, and its lists.
func (c *consoleCell) readRecorded(ctx context.Context, t *trial) (*whatif.Recorded, error) {
	c.updateTrial(t, func(t *console.Trial) { t.Step = "reads the log" })
	before, to := t.from, t.to
	before.Seq, before.At = max(before.Seq, 1)-1, max(before.At, 1)-1
	p, err := c.reader.Open(ctx, before, to, false)
	if err != nil {
		return nil, err
	}
	defer p.Close()
	first, last := p.Span()
	if before.At >= first.At {
		if before.Seq, err = p.SeqAt(before.At); err != nil {
			return nil, err
		}
	}
	start, err := p.Full(before.Seq)
	if err != nil {
		return nil, err
	}
	if to.Seq == 0 {
		to.Seq = last.Seq
	}
	if n := to.Seq - min(start.Seq, to.Seq); n > trialLists {
		return nil,
			fmt.Errorf("the stretch has %d event lists; at most %d are compared here: quill replay --what-if has no bound", n,
				trialLists)
	}
	c.updateTrial(t, func(t *console.Trial) { t.Lists = to.Seq - min(start.Seq, to.Seq) })
	r, err := whatif.Record(start, c.listsUntil(ctx, t, p, start.Seq, to))
	if err == nil {
		err = ctx.Err()
	}
	if err == nil {
		c.updateTrial(t, func(t *console.Trial) { t.From, t.To = start.At, r.Last })
	}
	return r, err
}

// listsUntil gives the lists of a stretch after one.
func (c *consoleCell) listsUntil(
	ctx context.Context, t *trial, p past.Stretch, after uint64, to gdi.Place,
) iter.Seq2[events.List, error] {
	return func(yield func(events.List, error) bool) {
		for l, err := range p.Lists(after + 1) {
			if err == nil && (l.Seq > to.Seq || to.At != 0 && l.At > to.At || ctx.Err() != nil) {
				return
			}
			if l.Seq%1000 == 0 {
				c.updateTrial(t, func(t *console.Trial) {
					t.Part = readPart * float64(l.Seq-after) / float64(max(to.Seq-after, 1))
				})
			}
			if err == nil && l.Seq <= after {
				continue
			}
			if !yield(l.Public(), err) {
				return
			}
		}
	}
}
