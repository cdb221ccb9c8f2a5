package history_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/orders"
	"github.com/quill-grid/quill/pkg/archive"
	"github.com/quill-grid/quill/pkg/frame"
	"github.com/quill-grid/quill/pkg/history"
	"github.com/quill-grid/quill/pkg/redact"
	"github.com/quill-grid/quill/pkg/state"
)

// exported writes a file of a cell of n lists, and returns what the cell's state
// was at each Seq.
func exported(t *testing.T, n int, e history.Export) (file string, live []*state.State) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "cell")
	live = []*state.State{state.New()}
	s := newStory(3)
	cell(t, dir, n, 50, s, func(events.List) { live = append(live, s.state.Copy()) })
	l := open(t, history.Source{Dir: dir})
	var out bytes.Buffer
	must(t, l.Export(&out, e))
	must(t, os.RemoveAll(dir))
	file = filepath.Join(t.TempDir(), "stretch")
	must(t, os.WriteFile(file, out.Bytes(), 0o600))
	return file, live
}

// TestExport: a stretch says the same without the cell it is from: every state,
// none before, none after.
func TestExport(t *testing.T) {
	for name, c := range map[string]struct {
		e    history.Export
		from uint64 // the first state
	}{
		"all":          {history.Export{}, 1},
		"from a list":  {history.Export{From: 133}, 132},
		"to a list":    {history.Export{To: 77}, 1},
		"both":         {history.Export{From: 210, To: 251}, 209},
		"one list":     {history.Export{From: 100, To: 100}, 99},
		"shown anew":   {history.Export{From: 130, To: 170, Show: func(l events.List) events.List { return l }}, 129},
		"a kept state": {history.Export{From: 299, Kept: true}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			file, live := exported(t, 300, c.e)
			l := open(t, history.Source{File: file})
			first, last := l.Span()
			to := c.e.To
			if to == 0 {
				to = 300
			}
			if last.Seq != to || c.from != 0 && first.Seq != c.from || first.Seq > max(c.e.From, 1) {
				t.Fatalf("it has states %d to %d", first.Seq, last.Seq)
			}
			p := history.NewPlayer(l)
			for seq := last.Seq; seq >= first.Seq; seq-- {
				got, err := p.Seek(seq)
				must(t, err)
				same(t, got, live[seq])
			}
			if check := l.Check(); check.Damage != nil {
				t.Error(check.Damage)
			}
		})
	}
}

// TestLists: a stretch may have lists only, for who has the state before them.
func TestLists(t *testing.T) {
	for name, c := range map[string]struct {
		e    history.Export
		last uint64
	}{
		"from the first": {history.Export{Lists: true, Kept: true}, 300},
		"as they are":    {history.Export{Lists: true, Kept: true, From: 133, To: 190}, 190},
		"shown anew": {history.Export{Lists: true, Kept: true, From: 133, To: 190, Show: func(l events.List) events.List {
			return l
		}}, 190},
		"one list": {history.Export{Lists: true, Kept: true, From: 100, To: 100}, 100},
	} {
		t.Run(name, func(t *testing.T) {
			file, live := exported(t, 300, c.e)
			l := open(t, history.Source{File: file})
			from := max(c.e.From, 1)
			if first, last := l.Span(); first.Seq > from || last.Seq != c.last {
				t.Fatalf("it has lists %d to %d", first.Seq, last.Seq)
			}
			s := live[from-1].Copy()
			for list, err := range l.Lists(from) {
				must(t, err)
				if list.Seq >= from {
					s.Apply(list)
				}
			}
			same(t, s, live[c.last])
			if _, err := l.Full(c.last); (err == nil) != (from == 1) {
				t.Errorf("a full state was made of nothing: %v", err)
			}
		})
	}
}

// TestBadFiles: what is good of a bad file is given, and what is bad is said.
func TestBadFiles(t *testing.T) {
	file, _ := exported(t, 3000, history.Export{})
	good, err := os.ReadFile(file)
	must(t, err)
	spoilt := func(change func(b []byte) []byte) (lists int, err error) {
		must(t, os.WriteFile(file, change(bytes.Clone(good)), 0o600))
		l, err := history.Open(context.Background(), history.Source{File: file})
		if err != nil {
			return 0, err
		}
		defer l.Close()
		for list, err := range l.Lists(1) {
			if err != nil {
				var d *frame.Damage
				if !errors.As(err, &d) || d.After.Seq != uint64(lists) {
					t.Errorf("damage is %v, lists go to %d", err, lists)
				}
				if check := l.Check(); check.Damage == nil || check.Last.Seq != d.After.Seq {
					t.Errorf("check says %v, at list %d", check.Damage, check.Last.Seq)
				}
				return lists, err
			}
			lists++
			if list.Seq != uint64(lists) {
				t.Fatalf("list %d is number %d", list.Seq, lists)
			}
		}
		return lists, nil
	}
	if n, err := spoilt(func(b []byte) []byte { return b }); n != 3000 || err != nil {
		t.Fatalf("good file: %d lists, %v", n, err)
	}
	if n, err := spoilt(func(b []byte) []byte { return b[:len(b)-20] }); n != 3000 || err == nil {
		t.Errorf("cut at the end: %d lists, %v", n, err)
	}
	if n, err := spoilt(func(b []byte) []byte { b[len(b)*3/4] ^= 8; return b }); n >= 3000 || err == nil {
		t.Errorf("flipped bit: %d lists, %v", n, err)
	}
	for _, spoil := range []func([]byte) []byte{
		func(b []byte) []byte { b[200] ^= 4; return b },
		func(b []byte) []byte { return b[:200] },
	} { // in the very first lists
		var d *frame.Damage
		if _, err := spoilt(spoil); !errors.As(err, &d) || !strings.Contains(err.Error(), "nothing can be had of it") {
			t.Errorf("damaged at the beginning: %v", err)
		}
	}
	if _, err := spoilt(func(b []byte) []byte { b[3]++; return b }); !errors.Is(err, archive.ErrNewer) {
		t.Errorf("newer version: %v", err)
	}
	if _, err := spoilt(func(b []byte) []byte {
		return []byte("PK\x03\x04 something else")
	}); !errors.Is(err, archive.ErrForeign) {
		t.Errorf("foreign: %v", err)
	}
	if _, err := spoilt(func(b []byte) []byte { return nil }); !errors.Is(err, archive.ErrForeign) {
		t.Errorf("empty: %v", err)
	}
	if _, err := history.Open(context.Background(), history.Source{Dir: t.TempDir()}); !errors.Is(
		err, archive.ErrForeign) {
		t.Errorf("foreign directory: %v", err)
	}
}

// TestDamagedCell: a segment with a flipped bit: the lists before it, and the
// states after it from the snapshots.
func TestDamagedCell(t *testing.T) {
	dir := t.TempDir()
	cell(t, dir, 600, 50, newStory(2), func(events.List) {})
	segments, err := filepath.Glob(dir + "/segments/*.seg")
	must(t, err)
	if len(segments) < 3 {
		t.Fatalf("segments: %v", segments)
	}
	b, err := os.ReadFile(segments[2])
	must(t, err)
	b[len(b)/2] ^= 1
	must(t, os.WriteFile(segments[2], b, 0o600))
	l := open(t, history.Source{Dir: dir})
	check := l.Check()
	if check.Damage == nil || check.Last.Seq < 50 || check.Last.Seq > 300 || len(check.Beyond) != 3 {
		t.Fatalf("good to %d, then %v; after it %v", check.Last.Seq, check.Damage, check.Beyond)
	}
	p := history.NewPlayer(l)
	if s, err := p.Seek(check.Last.Seq); err != nil || s.Seq != check.Last.Seq {
		t.Errorf("before the damage: %v", err)
	}
	if _, err := p.Seek(check.Last.Seq + 1); err == nil {
		t.Error("a state within the damage")
	}
	if s, err := p.Seek(600); err != nil || s.Seq != 600 {
		t.Errorf("after the damage: %v", err)
	}
	var part bytes.Buffer
	if err := l.Export(&part, history.Export{}); err == nil {
		t.Error("export does not tell of the damage")
	}
	file := filepath.Join(t.TempDir(), "part")
	must(t, os.WriteFile(file, part.Bytes(), 0o600))
	if again := open(t, history.Source{File: file}).Check(); again.Damage == nil || again.Last != check.Last {
		t.Errorf("exported: to %v, then %v", again.Last, again.Damage)
	}
}

// TestGap: in the directory of a cell is an old snapshot, but not the lists that came next. No state is made of it and
// of what came later, what reads on from it is stopped, and after the gap everything is there.
func TestGap(t *testing.T) {
	dir := t.TempDir()
	old := map[string][]byte{} // snapshots, by path
	story := newStory(4)
	cell(t, dir, 600, 50, story, func(l events.List) {
		if l.Seq != 200 {
			return
		}
		files, err := filepath.Glob(dir + "/snapshots/*")
		must(t, err)
		for _, f := range files {
			old[f], err = os.ReadFile(f)
			must(t, err)
		}
	})
	must(t, os.RemoveAll(dir+"/segments"))
	intact := open(t, history.Source{Dir: dir})
	for path, b := range old {
		must(t, os.WriteFile(path, b, 0o600))
	}
	l := open(t, history.Source{Dir: dir})
	first, last := l.Span()
	intactFirst, _ := intact.Span()
	if first.Seq >= 200 || intactFirst.Seq <= 400 || last.Seq != 600 {
		t.Fatalf("from %d, later from %d, to %d", first.Seq, intactFirst.Seq, last.Seq)
	}

	p := history.NewPlayer(l)
	gap := func(what string, err error) {
		t.Helper()
		var d *frame.Damage
		if !errors.As(err, &d) || d.After.Seq >= 200 || !strings.Contains(err.Error(), "are missing") {
			t.Errorf("%s: %v", what, err)
		}
	}
	for _, seq := range []uint64{201, 300, intactFirst.Seq - 1} {
		_, err := p.Seek(seq)
		gap(fmt.Sprintf("state %d", seq), err)
	}
	steps := history.NewPlayer(l)
	_, err := steps.Seek(first.Seq)
	must(t, err)
	_, err = steps.Next()
	gap("a step on", err)
	for _, err = range l.Lists(first.Seq + 1) {
		break
	}
	gap("lists", err)
	check := l.Check()
	gap("check", check.Damage)
	if n := len(check.Beyond); n == 0 || check.Beyond[0] != intactFirst || n != len(intact.Store().States) {
		t.Errorf("reading can continue at %v, not from %v on", check.Beyond, intactFirst)
	}
	for _, seq := range []uint64{intactFirst.Seq, 599, 600} {
		got, err := p.Seek(seq)
		must(t, err)
		want, err := intact.Full(seq)
		must(t, err)
		same(t, got, want)
	}

	must(t, os.RemoveAll(dir+"/log")) // the snapshots alone
	l = open(t, history.Source{Dir: dir})
	states := l.Store().States
	for i, s := range states {
		got, err := l.Full(s.Seq)
		if err != nil || got.Seq != s.Seq {
			t.Errorf("kept state %d: %v, %v", s.Seq, got, err)
		}
		if _, err := l.Full(s.Seq + 1); err == nil && i+1 < len(states) {
			t.Errorf("state %d is made of state %d", s.Seq+1, s.Seq)
		}
	}
	if len(states) < 4 {
		t.Errorf("states %v", states)
	}
}

// TestRedacted: a redacted file replays as the log does, name for name.
func TestRedacted(t *testing.T) {
	r := redact.New([]byte("key"))
	note := newStory(3)
	for note.seq < 200 {
		r.Note(note.next())
	}
	file, live := exported(t, 200, history.Export{Show: r.List, About: history.About{Redacted: true},
		Run: func(o orders.Record) (orders.Record, bool) { return r.Record(o), true }})
	text, err := os.ReadFile(file)
	must(t, err)
	if bytes.Contains(text, []byte("alice")) {
		t.Error("the file speaks of alice")
	}
	l := open(t, history.Source{File: file})
	if !l.About().Redacted {
		t.Error("the file does not say what it is")
	}
	p := history.NewPlayer(l)
	for seq := uint64(1); seq <= 200; seq++ {
		got, err := p.Seek(seq)
		must(t, err)
		want := state.New()
		for chunk := range history.Chunks(live[seq]) {
			l, err := decoded(chunk)
			must(t, err)
			for _, l := range l {
				want.Apply(r.List(l))
			}
		}
		same(t, got, want)
	}
}
