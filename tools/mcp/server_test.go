package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/pkg/client"
	"github.com/quill-grid/quill/pkg/codec"
	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/state"
	"github.com/quill-grid/quill/schedd/algorithm/shipped"
)

// unconnected is a session without a cell. asked is called when a tool connects to it.
func unconnected(asked func()) *session {
	return &session{now: time.Now, user: func(context.Context) string { return "root" },
		connect: func(context.Context) (*client.Remote, error) { asked(); return nil, errors.New("there is no cell") }}
}

// fresh is the state of a new cell, with the project sim and a waiting job.
func fresh() *state.State {
	st := state.New()
	l := events.List{Seq: 1, At: 1_700_000_000_000}
	j := &grid.Job{ID: 1, Owner: "root", Name: "sleep", Tasks: grid.Range{First: 1, Last: 1, Step: 1}, Submit: l.At}
	j.Complete()
	j.Pending = grid.Ranges{j.Tasks}
	for _, o := range append(grid.FreshCell(), &grid.Manager{Name: "root"}, &grid.AdminHost{Name: "h1"},
		&grid.SubmitHost{Name: "h1"}, &grid.Project{Name: "sim"}, j) {
		l.Events = append(l.Events, events.Add(o))
	}
	st.Apply(l)
	return st
}

// TestChoices: inputs with few values list them in the schema of their tool, and others are refused before the cell is
// asked.
func TestChoices(t *testing.T) {
	asked := false
	s := unconnected(func() { asked = true })
	server, client := sdk.NewInMemoryTransports()
	go s.server().Run(t.Context(), server) //nolint:errcheck // ends with the test
	c, err := sdk.NewClient(&sdk.Implementation{Name: "test"}, nil).Connect(t.Context(), client, nil)
	if err != nil {
		t.Fatal(err)
	}
	tools, err := c.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	text, _ := json.Marshal(tools)
	algorithm := `"` + shipped.Algorithms()[0].Name + `"`
	for _, want := range []string{`"cluster_queues"`, `"add","remove"`, `"CQUEUE"`, algorithm} {
		if !strings.Contains(string(text), want) {
			t.Errorf("no schema has %s", want)
		}
	}
	for _, one := range []struct {
		tool, arguments string
		valid           bool
	}{
		{"list", `{"kind": "jobs"}`, true},
		{"list", `{"kind": "jobs", "states": "phu"}`, true},
		{"list", `{"kind": "jobs", "states": "zz"}`, false},
		{"list", `{"kind": "hosts", "users": ["alice"]}`, false},
		{"list", `{"kind": "hosts", "states": "p"}`, false},
		{"list", `{"kind": "proposals", "at": "-1h"}`, false},
		{"list", `{"kind": "job"}`, false},
		{"simulate", `{"algorithm": "default"}`, true},
		{"simulate", `{"algorithm": "defualt"}`, false},
		{"propose", `{"reason": "", "changes": [{"action": "hold", "jobs": ["1"]}]}`, true},
		{"propose", `{"reason": "", "changes": [{"action": "halt", "jobs": ["1"]}]}`, false},
		{"propose", `{"reason": "", "changes": [{"action": "remove", "kind": "QUEUE", "name": "a"}]}`, false},
	} {
		asked = false
		r, err := c.CallTool(t.Context(),
			&sdk.CallToolParams{Name: one.tool, Arguments: json.RawMessage(one.arguments)})
		if err != nil || !r.IsError || asked != one.valid {
			t.Errorf("%s %s: the cell was asked: %v; %v", one.tool, one.arguments, asked, err)
		}
	}
}

// TestMistypedName: attributes are set of what there is; a new object has an action of its own.
func TestMistypedName(t *testing.T) {
	st, weight := fresh(), map[string]string{"fshare": "7"}
	for _, one := range []struct{ action, kind, name, want string }{
		{"configure", "PROJECT", "sim", ""},
		{"configure", "PROJECT", "sum", `PROJECT "sum" does not exist (did you mean sim?); the action add makes it`},
		{"add", "PROJECT", "sum", ""},
		{"add", "PROJECT", "sim", `PROJECT "sim" exists; the action configure changes it`},
		{"configure", "SCHED_CONF", "schedcnf", `SCHED_CONF "schedcnf" does not exist (did you mean schedconf?)`},
	} {
		_, err := configured(st, ProposedChange{Action: Action(one.action), Kind: ConfigKind(one.kind), Name: one.name,
			Attributes: weight})
		if (err == nil) != (one.want == "") || err != nil && !strings.HasPrefix(err.Error(), one.want) {
			t.Errorf("%s %s %s: %v", one.action, one.kind, one.name, err)
		}
	}
}

// TestEffectBudget: an effect that is not found in time is said to be missing.
func TestEffectBudget(t *testing.T) {
	st := fresh()
	conf := *st.SchedConf()
	conf.MaxReservation++
	var changes [][]byte
	for _, body := range []gdi.Body{&gdi.Alter{Jobs: gdi.Jobs{Refs: []gdi.JobRef{{ID: 1}}}, HoldAdd: "u"},
		&gdi.Modify{Objects: []grid.Object{&conf}}} {
		changes = append(changes, codec.AppendBody(nil, body))
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	effect := unconnected(func() {}).effect(ctx, nil, st, changes)
	if want := []string{"not found within 30s"}; !slices.Equal(effect, want) {
		t.Errorf("%q, not %q", effect, want)
	}
}

// TestInputEnds: what was read before the end of the input is answered.
func TestInputEnds(t *testing.T) {
	ended := make(chan struct{})
	s := unconnected(func() { <-ended })
	input := io.MultiReader(strings.NewReader(
		`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"list","arguments":{"kind":"jobs"}}}
`), atEnd(func() { close(ended) }))
	var output strings.Builder
	err := s.server().Run(t.Context(), answering{&sdk.IOTransport{Reader: io.NopCloser(input), Writer: written{&output}}})
	if err != nil || !strings.Contains(output.String(), "there is no cell") {
		t.Errorf("%v, after %s", err, output.String())
	}
}

// atEnd calls a function when all before it is read.
type atEnd func()

func (f atEnd) Read([]byte) (int, error) { f(); return 0, io.EOF }

type written struct{ io.Writer }

func (written) Close() error { return nil }
