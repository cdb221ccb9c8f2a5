package qevent

import (
	"bytes"
	"context"
	"errors"
	"iter"
	"strings"
	"testing"
	"time"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/pkg/client"
	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/history"
	"github.com/quill-grid/quill/pkg/state"
)

// list is the list seq of a log in which a counter counts the lists.
func list(seq uint64) events.List {
	return events.List{Seq: seq, At: grid.Time(seq),
		Events: []events.Event{events.Mod(&grid.Counter{Name: "n", Value: seq})}}
}

// memory is a log from a list to another.
type memory struct {
	first, last uint64
	fails       error // after the last list
}

func (m *memory) mark(seq uint64) history.Mark     { return history.Mark{Seq: seq, At: grid.Time(seq)} }
func (m *memory) Span() (first, last history.Mark) { return m.mark(m.first), m.mark(m.last) }
func (m *memory) Begin(p gdi.Place) (uint64, error) {
	return max(p.Seq, min(uint64(p.At), m.last+1)), nil
}
func (m *memory) Lists(from uint64) iter.Seq2[events.List, error] {
	return func(yield func(events.List, error) bool) {
		for seq := max(from, m.first); seq <= m.last; seq++ {
			if !yield(list(seq), nil) {
				return
			}
		}
		if m.fails != nil {
			yield(events.List{}, m.fails)
		}
	}
}
func (m *memory) State(seq uint64) (*state.State, error) {
	s := state.New()
	s.Apply(list(seq))
	return s, nil
}
func (*memory) Close() error { return nil }

// feeds is a qmaster that is started again and again: each feed sends a full
// state, then lists.
type feeds []struct{ full, last uint64 }

var errEnd = errors.New("error: no more feeds")

func (f feeds) Watch(ctx context.Context, w client.Watcher) error {
	for i, feed := range f {
		if i > 0 {
			w.Lost(errors.New("connection lost"))
		}
		sink := w.Fresh()
		l := list(feed.full)
		l.Events[0].Op = events.OpList
		sink.Apply(l)
		w.Full(uint64(i), feed.full)
		for seq := feed.full + 1; seq <= feed.last && ctx.Err() == nil; seq++ {
			sink.Apply(list(seq))
		}
	}
	if ctx.Err() != nil {
		return nil
	}
	return errEnd
}

// printFeeds returns what a reader prints of feeds and a log: the values of the counter, or
// with -diff how they changed.
func printFeeds(o options, f feeds, log *memory) (string, error) {
	var out, complaints bytes.Buffer
	r := &reader{options: &o, print: o.text, zone: time.UTC, out: &out, stderr: &complaints}
	open := func(context.Context, uint64) (past, error) { return log, nil }
	err := r.until(time.Time{})
	if o.from != "" {
		err = r.replay(context.Background(), open)
	}
	if err == nil {
		fo := &follower{reader: r, open: open, ctx: context.Background()}
		err = fo.follow(f)
	}
	if err == errEnd || err == errOver {
		err = nil
	}
	text := ""
	for line := range strings.Lines(out.String()) {
		if _, value, ok := strings.Cut(line, "value"); ok {
			text += " " + strings.Trim(strings.TrimSpace(value), "=: ")
		}
	}
	for line := range strings.Lines(complaints.String()) {
		if strings.Contains(line, "missing") {
			text += "; " + strings.TrimSpace(line)
		}
	}
	return strings.TrimSpace(text), err
}

func TestNothingIsLost(t *testing.T) {
	const cut = "qevent: lists 8 to 10 are missing: not in the log any more"
	for _, c := range []struct {
		name  string
		o     options
		feeds feeds
		log   memory
		want  string
	}{
		{"live", options{}, feeds{{5, 8}}, memory{}, "6 7 8"},
		{"restart", options{}, feeds{{5, 7}, {12, 13}}, memory{first: 1, last: 14}, "6 7 8 9 10 11 12 13"},
		{"restart without events", options{}, feeds{{5, 7}, {7, 9}}, memory{}, "6 7 8 9"},
		{"the log was cut", options{}, feeds{{5, 7}, {12, 13}}, memory{first: 11, last: 14}, "6 7 11 12 13; " + cut},
		{"the log was cut after", options{}, feeds{{5, 7}, {10, 11}}, memory{first: 11, last: 14}, "6 7 11; " + cut},
		{"from the beginning", options{from: "1"}, feeds{{5, 7}}, memory{first: 1, last: 6}, "1 2 3 4 5 6 7"},
		{"from a list", options{from: "3"}, feeds{{3, 7}}, memory{first: 1, last: 4}, "3 4 5 6 7"},
		{"from before the log", options{from: "8"}, feeds{{12, 13}}, memory{first: 11, last: 12}, "11 12 13; " + cut},
		{"full", options{full: true}, feeds{{5, 6}, {9, 9}}, memory{first: 1, last: 9}, "5 6 7 8 9"},
		{"differences", options{diff: true}, feeds{{5, 6}, {8, 9}}, memory{first: 1, last: 9}, "5 -> 6 6 -> 7 7 -> 8 8 -> 9"},
		{"differences over a cut", options{diff: true}, feeds{{5, 7}, {10, 11}}, memory{first: 11, last: 11},
			"5 -> 6 6 -> 7 10 -> 11; " + cut},
		{"differences from a list", options{diff: true, from: "3"}, feeds{{4, 5}}, memory{first: 1, last: 4},
			"2 -> 3 3 -> 4 4 -> 5"},
		{"to a list", options{to: "9"}, feeds{{5, 7}, {12, 13}}, memory{first: 1, last: 14}, "6 7 8 9"},
		{"from and to", options{from: "2", to: "3"}, feeds{{5, 7}}, memory{first: 1, last: 5}, "2 3"},
	} {
		got, err := printFeeds(c.o, c.feeds, &c.log)
		if err != nil || got != c.want {
			t.Errorf("%s: got %q, %v, want %q", c.name, got, err, c.want)
		}
	}
}

// What can be had before damage is printed; then the damage is returned.
func TestDamage(t *testing.T) {
	damage := errors.New("log is damaged")
	got, err := printFeeds(options{from: "1"}, nil, &memory{first: 1, last: 3, fails: damage})
	if got != "1 2 3" || err != damage {
		t.Errorf("got %q, %v", got, err)
	}
}
