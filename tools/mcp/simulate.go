package mcp

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/pkg/client"
	"github.com/quill-grid/quill/pkg/conf"
	"github.com/quill-grid/quill/pkg/fair"
	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/history"
	"github.com/quill-grid/quill/pkg/state"
	"github.com/quill-grid/quill/tools/outcome"
	"github.com/quill-grid/quill/tools/whatif"
)

// SimulateIn is the input of simulate.
type SimulateIn struct {
	Hours     float64           `json:"hours,omitempty" jsonschema:"how much of the recorded past is repeated: 24 unless given, at most 168"`
	Algorithm Algorithm         `json:"algorithm,omitempty" jsonschema:"scheduling algorithm, as algorithm of sched_conf(5)"`
	Config    map[string]string `json:"config,omitempty" jsonschema:"attributes of sched_conf(5) and their values"`
}

// Simulated is the output of simulate.
type Simulated struct {
	Notice      string          `json:"notice"`
	Recorded    outcome.Summary `json:"recorded" jsonschema:"what happened: times in seconds, utilisation from 0 to 1"`
	Simulated   outcome.Summary `json:"simulated" jsonschema:"what would have happened"`
	NotCompared int             `json:"not_compared" jsonschema:"tasks that ended in one of the two only"`
	Waiting     int             `json:"would_wait_forever" jsonschema:"tasks that nothing would start"`
	Refused     int             `json:"refused" jsonschema:"requests of the past that would have been refused"`
}

func (s *session) simulate(ctx context.Context, _ *sdk.CallToolRequest, in SimulateIn) (Simulated, error) {
	c, err := s.connect(ctx)
	if err != nil {
		return Simulated{}, err
	}
	defer c.Close()
	return s.repeat(ctx, c, in.Hours, func(r *whatif.Recorded) (whatif.Scenario, error) {
		o := whatif.Scenario{Algorithm: string(in.Algorithm)}
		if len(in.Config) > 0 {
			changed, err := set(r.Start.SchedConf(), in.Config)
			if err != nil {
				return o, err
			}
			o.Conf = changed.(*grid.SchedConf)
		}
		return o, nil
	})
}

// set returns an object with attributes that have other values.
func set(o grid.Object, attributes map[string]string) (grid.Object, error) {
	var err error
	for _, name := range slices.Sorted(maps.Keys(attributes)) {
		if o, err = conf.Set(o, name, attributes[name]); err != nil {
			return nil, err
		}
	}
	return o, nil
}

// repeat lets the recorded past happen again, under what prepare makes of it, and compares.
func (s *session) repeat(
	ctx context.Context, c *client.Remote, hours float64, prepare func(*whatif.Recorded) (whatif.Scenario, error),
) (Simulated, error) {
	if hours == 0 {
		hours = 24
	}
	if !(hours > 0 && hours <= 168) {
		return Simulated{}, errors.New("hours is more than 0 and at most 168")
	}
	leave, err := s.busy.Wait(ctx, fair.User{Name: s.user(ctx)}, 1)
	if err != nil {
		return Simulated{}, fmt.Errorf("simulations: %w", err)
	}
	defer leave()
	log, closes, err := s.log(ctx, c, gdi.Place{At: grid.TimeOf(s.now()).Add(-hours * 3600)}, gdi.Place{})
	if err != nil {
		return Simulated{}, err
	}
	defer closes()
	first, _ := log.Span()
	start, err := log.Full(first.Seq)
	if err != nil {
		return Simulated{}, err
	}
	recorded, err := whatif.Record(start, listsOf(ctx, log, start))
	if err != nil {
		return Simulated{}, err
	}
	options, err := prepare(recorded)
	if err != nil {
		return Simulated{}, err
	}
	replayed, err := whatif.Replay(ctx, recorded, options)
	if err != nil {
		return Simulated{}, err
	}
	then, now, left := whatif.Compare(recorded, replayed, "simulated")
	if len(then.Jobs) == 0 {
		return Simulated{}, fmt.Errorf("no task has ended in the last %g hours: there is nothing to compare", hours)
	}
	return Simulated{notice, then.Summary(), now.Summary(), left, replayed.Waiting, len(replayed.Refused)}, nil
}

// listsOf returns the lists after a state. It fails when ctx ends.
func listsOf(ctx context.Context, log *history.Log, start *state.State) iter.Seq2[events.List, error] {
	return func(yield func(events.List, error) bool) {
		for l, err := range log.Lists(start.Seq + 1) {
			if !yield(l, errors.Join(err, ctx.Err())) {
				return
			}
		}
	}
}

// text returns the outcome in a few lines.
func (o Simulated) text() string {
	return fmt.Sprintf(
		"on the recorded last day, %d tasks: mean wait %.0f s -> %.0f s, 95th percentile %.0f s -> %.0f s, utilisation %.3f -> %.3f, makespan %.0f s -> %.0f s, waiting forever %d",
		o.Recorded.Jobs, o.Recorded.MeanWait, o.Simulated.MeanWait, o.Recorded.WaitOf95, o.Simulated.WaitOf95,
		o.Recorded.Utilisation, o.Simulated.Utilisation,
		o.Recorded.Makespan, o.Simulated.Makespan, o.Waiting)
}
