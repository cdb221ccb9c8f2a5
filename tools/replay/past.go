package replay

import (
	"context"
	"fmt"
	"time"

	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/state"
	"github.com/quill-grid/quill/pkg/userdb"
	"github.com/quill-grid/quill/qmaster/core"
)

// past is a client.Client whose qmaster is a state that was: it is asked by the
// same commands, and answers with the same query engine, as qmaster does now.
type past struct {
	state *state.State
	now   time.Time // the moment of the replay, in the zone in which times are shown
	host  string    // where the command runs
}

// Get implements client.Client.
func (p *past) Get(_ context.Context, get gdi.Get, each func(grid.Object) error) (uint64, error) {
	var err error
	core.Query(p.state, get, func(o grid.Object) bool {
		err = each(o)
		return err == nil
	})
	return p.state.Seq, err
}

// Do implements client.Client: what only asks is answered by qmaster's own
// core, on a copy of the state; what would change something is refused.
func (p *past) Do(_ context.Context, command string, body gdi.Body) (gdi.Reply, error) {
	if !question(body) {
		return gdi.Reply{Answers: []gdi.Answer{gdi.Deny(gdi.StatusDenied, fmt.Sprintf(
			"denied: this is the past (list %d, %s): %s can show what was, not change it", p.state.Seq,
			clock(p.now), command))}}, nil
	}
	c := core.New(p.state.Copy(), 0)
	c.In(p.now.Location())
	r := core.UserRequest{Request: gdi.Request{User: "nobody", Host: p.submitHost(), Command: command, Body: body}}
	if u, err := userdb.Current(); err == nil {
		r.User = u.Username
	}
	for _, a := range c.Step(grid.TimeOf(p.now), r).Answers {
		if a.Reply != nil {
			return *a.Reply, nil
		}
	}
	return gdi.Reply{}, fmt.Errorf("error: %s has no answer in the past", body.Verb())
}

// submitHost is a host that could ask then: this one if it was a submit or
// administrative host, else the first that was.
func (p *past) submitHost() string {
	this := grid.Key{Name: p.host}
	if p.state.Get(grid.KindSubmitHost, this) != nil || p.state.Get(grid.KindAdminHost, this) != nil {
		return p.host
	}
	host := p.host
	p.state.Each(grid.KindSubmitHost, func(o grid.Object) bool {
		host = o.Key().Name
		return false
	})
	return host
}

// question reports whether a request only asks.
func question(body gdi.Body) bool {
	switch b := body.(type) {
	case *gdi.Verify:
		return true
	case *gdi.Reserve:
		return b.AR.Verify == "v"
	}
	return false
}

// Close implements client.Client.
func (*past) Close() error { return nil }

// clock prints a moment as Grid Engine prints dates.
func clock(t time.Time) string { return t.Format("01/02/2006 15:04:05.000") }
