package log

import (
	"errors"

	"github.com/quill-grid/quill/pkg/document"
	"github.com/quill-grid/quill/pkg/frame"
	"github.com/quill-grid/quill/pkg/history"
)

func marksOf(list []history.Mark) []document.Mark {
	out := []document.Mark{}
	for _, m := range list {
		out = append(out, document.MarkOf(m.Seq, m.At))
	}
	return out
}

func notesOf(a history.About) document.LogNotes {
	return document.LogNotes{Redacted: a.Redacted, Partial: a.Partial, CutOff: a.Damage}
}

// documentOf returns what quill log prints.
func documentOf(l *history.Log) document.Log {
	s := l.Store()
	out := document.Log{First: document.MarkOf(s.First.Seq, s.First.At), Last: document.MarkOf(s.Last.Seq, s.Last.At),
		Epoch: s.Epoch.Reign(),
		Bytes: s.Bytes, Packed: s.Packed, Segments: s.Segments, States: marksOf(s.States), Notes: notesOf(l.About())}
	if s.RunsFrom > 0 {
		out.Runs = &document.Runs{From: s.RunsFrom, Bytes: s.Runs}
	}
	_, last := l.Span()
	if full, err := l.Full(last.Seq); err == nil {
		if conf := full.Conf("global"); conf != nil {
			if seconds, bytes, ok := conf.KeptOrders(); ok {
				out.KeepRuns = document.KeepOf(seconds, bytes)
			}
			if seconds, bytes, ok := conf.KeptHistory(); ok {
				out.KeepList = document.KeepOf(seconds, bytes)
			}
		}
	}
	return out
}

// checkOf returns what quill log verify prints.
func checkOf(r history.Check, a history.About, files []history.FileDamage) document.LogCheck {
	out := document.LogCheck{Good: r.Damage == nil && len(files) == 0, Lists: r.Lists, Events: r.Events, Epochs: r.Epochs,
		States: []document.StateCheck{},
		Beyond: marksOf(r.Beyond), Notes: notesOf(a)}
	if r.Lists > 0 {
		first, last := document.MarkOf(r.First.Seq, r.First.At), document.MarkOf(r.Last.Seq, r.Last.At)
		out.First, out.Last = &first, &last
	}
	for _, f := range files {
		out.Files = append(out.Files, f.Text)
	}
	for _, s := range r.States {
		row := document.StateCheck{Mark: document.MarkOf(s.Mark.Seq, s.Mark.At), Name: s.Name}
		if s.Err != nil {
			row.Error, out.Good = s.Err.Error(), false
		}
		out.States = append(out.States, row)
	}
	if d := (*frame.Damage)(nil); errors.As(r.Damage, &d) {
		out.Damage = d.Reason
	}
	return out
}

// printCopy prints what a file, or the directory made of one, has.
func (c command) printCopy(path string, check history.Check, about history.About) error {
	out := document.LogCopy{Path: path, Lists: check.Lists, Notes: notesOf(about)}
	if check.Lists > 0 {
		first, last := document.MarkOf(check.First.Seq, check.First.At), document.MarkOf(check.Last.Seq, check.Last.At)
		out.First, out.Last = &first, &last
	}
	return document.Write(c.env.Stdout, out)
}
