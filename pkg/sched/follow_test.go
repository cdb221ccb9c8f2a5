package sched

import (
	"testing"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/state"
)

// TestEveryKindIsFollowed sends a cluster an event of each kind: it must follow
// those that change what is in use, resolve the configuration anew after those
// that change it, and ignore the rest.
func TestEveryKindIsFollowed(t *testing.T) {
	for _, s := range grid.Kinds {
		st := state.New()
		c := NewCluster(st)
		c.settle()
		if follows := followers[s.Kind] != nil; follows != (s.Effect == grid.EffectUse) {
			t.Errorf("%s: followed %v, its effect is %d", s.Name, follows, s.Effect)
			continue
		}
		if s.Effect == grid.EffectUse {
			continue // cluster_test.go compares what follows
		}
		o := s.New()
		c.apply(events.Event{Kind: s.Kind, Op: events.OpAdd, Key: o.Key(), Object: o})
		if c.Stale() != (s.Effect == grid.EffectConfig) {
			t.Errorf("%s: stale %v, its effect is %d", s.Name, c.Stale(), s.Effect)
		}
	}
}
