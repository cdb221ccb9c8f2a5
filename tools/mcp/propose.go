package mcp

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/pkg/client"
	"github.com/quill-grid/quill/pkg/codec"
	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/pattern"
	"github.com/quill-grid/quill/pkg/state"
	"github.com/quill-grid/quill/pkg/submit"
	"github.com/quill-grid/quill/qmaster/core"
	"github.com/quill-grid/quill/tools/whatif"
)

// ProposeIn is the input of propose.
type ProposeIn struct {
	Changes []ProposedChange `json:"changes" jsonschema:"carried out together, in this order"`
	Reason  string           `json:"reason" jsonschema:"why: the person reads it"`
}

// ProposedChange is one request of a proposal.
type ProposedChange struct {
	Action     Action            `json:"action" jsonschema:"of jobs: alter, hold, release, delete, suspend, unsuspend, reschedule, clear, submit; of queues: disable, enable, suspend, unsuspend, clear; of configuration: configure an object that exists, add a new one, remove"`
	Jobs       []string          `json:"jobs,omitempty" jsonschema:"numbers: 4711, 4712.1-5"`
	Queues     []string          `json:"queues,omitempty" jsonschema:"queues or queue instances: all.q, all.q@node1"`
	Options    []string          `json:"options,omitempty" jsonschema:"of alter and submit: words of qalter or qsub, as -l h_rt=3600"`
	Command    []string          `json:"command,omitempty" jsonschema:"of submit: a program on the execution host and its arguments"`
	Script     string            `json:"script,omitempty" jsonschema:"of submit: the text of a job script, in place of command"`
	Kind       ConfigKind        `json:"kind,omitempty" jsonschema:"of configure, add and remove: kind of the object as in events"`
	Name       string            `json:"name,omitempty" jsonschema:"of configure, add and remove: name of the object"`
	Attributes map[string]string `json:"attributes,omitempty" jsonschema:"of configure and add: attributes and their values; the others stay, or are those of a new object"`
}

// Proposed is the output of propose.
type Proposed struct {
	Notice   string   `json:"notice"`
	Proposal uint32   `json:"proposal" jsonschema:"its number"`
	Approve  string   `json:"approve" jsonschema:"the command with which a person approves it"`
	Change   string   `json:"change" jsonschema:"what is changed, field by field, as qmaster found it"`
	Effect   []string `json:"effect" jsonschema:"what the change would do; what was not found within 30 seconds is said to be missing"`
	Expires  string   `json:"expires"`
}

// wordsMax is how many words the options of a proposal may have, as maxItems of the HTTP API: each is looked for among
// those before.
const wordsMax = 10000

func (s *session) propose(ctx context.Context, r *sdk.CallToolRequest, in ProposeIn) (Proposed, error) {
	words := 0
	for _, c := range in.Changes {
		words += len(c.Options)
	}
	if words > wordsMax {
		return Proposed{}, fmt.Errorf("%d words in options: a proposal has at most %d", words, wordsMax)
	}
	c, err := s.connect(ctx)
	if err != nil {
		return Proposed{}, err
	}
	defer c.Close()
	st, err := s.present(ctx, c)
	if err != nil {
		return Proposed{}, err
	}
	p := &gdi.Propose{Agent: agent(r), Reason: grid.Printable(in.Reason)}
	for _, change := range in.Changes {
		body, err := s.body(ctx, st, change)
		if err != nil {
			return Proposed{}, fmt.Errorf("%s: %s", change.Action, strings.TrimSpace(err.Error()))
		}
		p.Changes = append(p.Changes, codec.AppendBody(nil, body))
	}
	if len(p.Changes) == 0 || len(p.Changes) > grid.ProposalChanges {
		return Proposed{}, fmt.Errorf("a proposal has at least 1 change and at most %d", grid.ProposalChanges)
	}
	foreseeing, cancel := context.WithTimeout(ctx, effectMost)
	effect := s.effect(foreseeing, c, st, p.Changes)
	cancel()
	p.Effect = strings.Join(effect, "\n")
	p.Effect = strings.ToValidUTF8(p.Effect[:min(len(p.Effect), grid.ProposalTextMax)], "")
	reply, err := c.Do(ctx, "quill-mcp", p)
	if err == nil {
		err = reply.Err()
	}
	if err != nil {
		return Proposed{}, err
	}
	out := Proposed{Notice: notice, Proposal: reply.Proposal, Approve: fmt.Sprintf("quill approve %d", reply.Proposal),
		Effect: effect}
	made := gdi.Where{Keys: []grid.Key{{ID: reply.Proposal}}}
	stored, err := client.Fetch(ctx, c, gdi.Get{Kinds: []grid.Kind{grid.KindProposal}, Where: made})
	if err != nil { // it is stored all the same
		out.Change = "not read: " + cleanText(err.Error())
	} else if found := stored.Proposal(reply.Proposal); found != nil {
		out.Change, out.Expires = found.Text, moment(found.Expires)
	}
	return out, nil
}

// agent returns the name of the program that the session is with, as it calls itself.
func agent(r *sdk.CallToolRequest) string {
	name := ""
	if r.Session != nil {
		if p := r.Session.InitializeParams(); p != nil && p.ClientInfo != nil {
			name = strings.TrimSpace(p.ClientInfo.Name + " " + p.ClientInfo.Version)
		}
	}
	name = strings.NewReplacer("\n", " ", "\t", " ", "(", "", ")", "").Replace(grid.Printable(name))
	return strings.ToValidUTF8(name[:min(len(name), grid.ProposalAgentMax)], "")
}

// body returns the request of a change.
func (s *session) body(ctx context.Context, st *state.State, c ProposedChange) (gdi.Body, error) {
	if len(c.Queues) > 0 {
		return &gdi.Control{Action: string(c.Action), Queues: true, Refs: c.Queues}, nil
	}
	switch c.Action {
	case "submit":
		return s.submission(ctx, c)
	case "configure", "add":
		return configured(st, c)
	case "remove":
		spec, err := specOf(c.Kind)
		if err != nil {
			return nil, err
		}
		return &gdi.Delete{Kind: spec.Kind, Keys: []grid.Key{{Name: c.Name}}}, nil
	}
	if len(c.Jobs) == 0 {
		return nil, errors.New("jobs or queues are missing")
	}
	options := c.Options
	if c.Action != "alter" {
		options = nil
	}
	q := submit.Qalter(s.origin(ctx, ""))
	words := append(slices.Clone(options), c.Jobs...)
	a := q.New(words)
	if err := q.Parse(a, words); err != nil {
		return nil, err
	}
	switch c.Action {
	case "alter":
		return a.Alter()
	case "hold":
		return &gdi.Alter{Jobs: a.Jobs, HoldAdd: "u"}, nil
	case "release":
		return &gdi.Alter{Jobs: a.Jobs, HoldRemove: "u"}, nil
	case "delete":
		return &gdi.DeleteJobs{Jobs: a.Jobs}, nil
	case "suspend", "unsuspend", "reschedule", "clear":
		return &gdi.Control{Action: string(c.Action), Refs: c.Jobs}, nil
	}
	return nil, errors.New("there is no such action")
}

// origin is what a submission reads: nothing of this host.
func (s *session) origin(ctx context.Context, script string) submit.Origin {
	user := s.user(ctx)
	return submit.Origin{Stdin: strings.NewReader(script), Host: s.host, Now: s.now, Away: true,
		Getenv: func(name string) string {
			if name == "LOGNAME" {
				return user
			}
			return ""
		}}
}

// submission returns the request of a submission.
func (s *session) submission(ctx context.Context, c ProposedChange) (gdi.Body, error) {
	if (len(c.Command) > 0) == (c.Script != "") {
		return nil, errors.New("a job has a command or a script")
	}
	q := submit.Qsub(s.origin(ctx, c.Script))
	words := c.Options
	if len(c.Command) > 0 {
		words = slices.Concat(words, []string{"-b", "y"}, c.Command)
	}
	job := q.New(words)
	if err := q.Parse(job, words); err != nil {
		return nil, err
	}
	job, err := job.Complete()
	if err != nil {
		return nil, err
	}
	if job.Sync || job.Verify {
		return nil, errors.New("-sync and -verify are for qsub")
	}
	return &gdi.Submit{Job: job.Job}, nil
}

// specOf returns a kind of configuration by its name in events.
func specOf(name ConfigKind) (*grid.Spec, error) {
	for i := range grid.Kinds {
		if k := &grid.Kinds[i]; k.Name == string(name) && k.Configured() {
			return k, nil
		}
	}
	return nil, errors.New("the kind of the object is missing")
}

// configured returns the request that sets attributes of an object, or adds one with them.
func configured(st *state.State, c ProposedChange) (gdi.Body, error) {
	spec, err := specOf(c.Kind)
	if err != nil {
		return nil, err
	}
	if spec.Kind == grid.KindSchedConf && c.Name == "" {
		c.Name = st.SchedConf().Key().Name
	}
	o := st.Get(spec.Kind, grid.Key{Name: c.Name})
	switch {
	case c.Action == "configure" && o == nil:
		return nil, absent(st, spec, c.Name)
	case c.Action == "add" && o != nil:
		return nil, fmt.Errorf("%s %q exists; the action configure changes it", spec.Name, c.Name)
	case c.Action == "add":
		if o = grid.Default(spec.Kind, c.Name); o == nil {
			return nil, fmt.Errorf("%s %q is not added here", spec.Name, c.Name)
		}
	}
	if o, err = set(o, c.Attributes); err != nil {
		return nil, err
	}
	if c.Action == "add" {
		return &gdi.Add{Objects: []grid.Object{o}}, nil
	}
	return &gdi.Modify{Objects: []grid.Object{o}}, nil
}

// absent is the error that there is no such object: a name may be mistyped.
func absent(st *state.State, spec *grid.Spec, name string) error {
	hint := pattern.Suggest(name, func(yield func(string) bool) {
		st.Each(spec.Kind, func(o grid.Object) bool { return yield(o.Key().Name) })
	})
	if hint != "" {
		hint = " (" + hint + ")"
	}
	return fmt.Errorf("%s %q does not exist%s; the action add makes it", spec.Name, name, hint)
}

// jobsForeseen is of how many jobs the expected start is compared.
const jobsForeseen = 3

// effectMost is how long the effect of a proposal is looked for. The rest of the call stores the proposal.
const effectMost = 30 * time.Second

// missing is the text of an effect that was not found in time.
var missing = fmt.Sprintf("not found within %v", effectMost)

// effect returns what changes do, as far as it can be found before ctx ends: the expected start of jobs before and
// after, and the recorded last day under the changed configuration. qmaster decides whether the changes are allowed.
func (s *session) effect(ctx context.Context, c *client.Remote, st *state.State, changes [][]byte) []string {
	after, list, err := s.tried(ctx, st, changes)
	if ctx.Err() != nil {
		return []string{missing}
	}
	if err != nil {
		return []string{"not found: " + cleanText(err.Error())}
	}
	out := []string{}
	scheduling := events.List{Seq: list.Seq, At: list.At}
	foreseen := map[uint32]bool{}
	for _, e := range list.Events {
		if ctx.Err() != nil {
			return append(out, missing)
		}
		spec := grid.SpecOf(e.Kind)
		switch {
		case spec.Configured() && spec.Effect == grid.EffectConfig, e.Kind == grid.KindQInstance,
			e.Kind == grid.KindShareTree:
			scheduling.Events = append(scheduling.Events, e)
		case e.Kind == grid.KindJob && e.Op != events.OpDel && !foreseen[e.Key.ID] && len(foreseen) < jobsForeseen:
			foreseen[e.Key.ID] = true
			before := "not there"
			if st.Job(e.Key.ID) != nil {
				before = expected(ctx, st, e.Key.ID, 0).text()
			}
			out = append(
				out, fmt.Sprintf("expected start of job %d: %s -> %s", e.Key.ID, before, expected(ctx, after, e.Key.ID, 0).text()))
		}
	}
	if len(scheduling.Events) > 0 {
		out = append(out, s.lastDay(ctx, c, after, scheduling))
	}
	return out
}

// text returns an expected start in a word or two.
func (e Expected) text() string {
	switch {
	case !e.Waits:
		return "it does not wait"
	case e.Held:
		return "held"
	case e.Start != "":
		return e.Start
	case e.Never:
		return "none is foreseen"
	case e.Alone != "":
		return "not before " + e.Alone
	}
	return "not known"
}

// lastDay returns what the recorded last day would have been under a changed configuration.
func (s *session) lastDay(ctx context.Context, c *client.Remote, after *state.State, changed events.List) string {
	outcome, err := s.repeat(ctx, c, 24, func(r *whatif.Recorded) (whatif.Scenario, error) {
		start := r.Start.Copy()
		changed.Seq, changed.At = start.Seq, start.At
		start.Apply(changed)
		r.Start = start
		var o whatif.Scenario
		for _, e := range changed.Events {
			if e.Kind == grid.KindSchedConf {
				o.Conf = after.SchedConf()
			}
		}
		return o, nil
	})
	if ctx.Err() != nil {
		return "on the recorded last day: " + missing
	}
	if err != nil {
		return "on the recorded last day: not found: " + cleanText(err.Error())
	}
	return outcome.text()
}

// tried returns the state after changes, and what they change in it, by the rules of qmaster on a copy.
func (s *session) tried(ctx context.Context, st *state.State, changes [][]byte) (*state.State, events.List, error) {
	q := core.New(st.Copy(), 0)
	var all events.List
	host := func(kind grid.Kind) (name string) {
		st.Each(kind, func(o grid.Object) bool {
			name = o.Key().Name
			return false
		})
		return name
	}
	for _, data := range changes {
		if ctx.Err() != nil {
			return nil, all, ctx.Err()
		}
		body, err := codec.DecodeBody(data)
		if err != nil {
			return nil, all, err
		}
		r := gdi.Request{User: s.user(ctx), Host: host(grid.KindAdminHost), Command: "quill-mcp", Body: body}
		switch body.(type) {
		case *gdi.Submit, *gdi.Alter, *gdi.DeleteJobs:
			r.Host = host(grid.KindSubmitHost)
		}
		if err := r.Complete(); err != nil {
			return nil, all, err
		}
		ready := q.Step(grid.TimeOf(s.now()), core.UserRequest{Request: r})
		for _, a := range ready.Answers {
			if a.Reply != nil && !a.Reply.OK() {
				return nil, all, a.Reply.Err()
			}
		}
		all.Seq, all.At, all.Events = ready.List.Seq, ready.List.At, append(all.Events, ready.List.Events...)
	}
	return q.State(), all, nil
}
