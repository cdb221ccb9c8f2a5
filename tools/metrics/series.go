package metrics

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"slices"
	"time"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"

	"github.com/quill-grid/quill/pkg/history"
	"github.com/quill-grid/quill/pkg/metrics"
	"github.com/quill-grid/quill/pkg/metrics/cellmetrics"
)

// sample plays the log from one place to another and gathers the metrics at each step and at the end. The result writes
// them.
func sample(
	ctx context.Context, log *history.Log, from, to history.Mark, step time.Duration,
) (func(io.Writer) error, error) {
	player := history.NewPlayer(log)
	defer player.Close()
	s, err := player.Seek(from.Seq)
	if err != nil {
		return nil, err
	}
	var table struct{ cellmetrics.Table }
	set := metrics.New(&table, metrics.Options{Bare: true})
	counter := cellmetrics.NewCounter(&table.Table, s)
	all := &series{of: map[string]*family{}}
	at := from.At.Std().Truncate(step)
	if at.Before(from.At.Std()) {
		at = at.Add(step)
	}
	reach := func(t time.Time) error { // samples up to a time, before what happens then
		for ; at.Before(t); at = at.Add(step) {
			if err := all.add(set, at); err != nil {
				return err
			}
		}
		return ctx.Err()
	}
	for l, err := range log.Lists(from.Seq + 1) {
		if err != nil {
			return nil, err
		}
		if l.Seq > to.Seq {
			break
		}
		if err := reach(l.At.Std()); err != nil {
			return nil, err
		}
		s.Apply(l)
		counter.List(l, s)
		counter.Sequence.Set(float64(l.Seq))
	}
	end := to.At.Std()
	if err := reach(end); err != nil {
		return nil, err
	}
	if err := all.add(set, end); err != nil { // the end of the log, wherever it is between two steps
		return nil, err
	}
	return all.write, nil
}

// series are samples by metric and labels: OpenMetrics wants those of one series together, and in the order of time.
type series struct {
	of map[string]*family
}

// family is the series of one metric.
type family struct {
	head  []byte // its comments
	of    map[string]*bytes.Buffer
	order []string
}

// add gathers all metrics as they were at a time.
func (s *series) add(set *metrics.Set, at time.Time) error {
	gathered, err := set.Gather()
	if err != nil {
		return err
	}
	var text bytes.Buffer
	for _, g := range gathered {
		f := s.of[g.GetName()]
		if f == nil {
			f = &family{of: map[string]*bytes.Buffer{}}
			s.of[g.GetName()] = f
		}
		for _, m := range g.GetMetric() {
			m.TimestampMs = new(at.UnixMilli())
			text.Reset()
			one := &dto.MetricFamily{Name: g.Name, Help: g.Help, Type: g.Type, Metric: []*dto.Metric{m}}
			if _, err := expfmt.MetricFamilyToOpenMetrics(&text, one); err != nil {
				return err
			}
			f.add(fmt.Sprint(m.GetLabel()), text.Bytes())
		}
	}
	return nil
}

// add appends the samples of one series, which follow comments.
func (f *family) add(labels string, text []byte) {
	samples := 0
	for samples < len(text) && text[samples] == '#' {
		samples += bytes.IndexByte(text[samples:], '\n') + 1
	}
	f.head = append(f.head[:0], text[:samples]...)
	b := f.of[labels]
	if b == nil {
		b = &bytes.Buffer{}
		f.of[labels] = b
		f.order = append(f.order, labels)
	}
	b.Write(text[samples:])
}

// write writes all that was added.
func (s *series) write(out io.Writer) error {
	names := make([]string, 0, len(s.of))
	for name := range s.of {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		f := s.of[name]
		if _, err := out.Write(f.head); err != nil {
			return err
		}
		for _, labels := range f.order {
			if _, err := out.Write(f.of[labels].Bytes()); err != nil {
				return err
			}
		}
	}
	_, err := io.WriteString(out, "# EOF\n")
	return err
}
