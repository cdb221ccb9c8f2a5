package web

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/switches"
	"github.com/quill-grid/quill/tools/console"
	"github.com/quill-grid/quill/tools/web/entry"
	"github.com/quill-grid/quill/tools/web/problem"
)

// consoleSession is a person who is logged in.
type consoleSession struct {
	cell *consoleCell
	*entry.Credential
}

func (s *consoleSession) Valid() bool {
	at, err := s.cell.mirror.Now()
	return err != nil || s.Account.Valid(at.State, grid.TimeOf(s.cell.options.Now()))
}

func (s *consoleSession) SubmitLine(ctx context.Context, job uint32) (line string) {
	get := gdi.Get{Kinds: []grid.Kind{grid.KindJob}, Where: gdi.Where{Keys: []grid.Key{{ID: job}}}}
	_ = s.Get(ctx, get, func(o grid.Object) error { // without it the page has less
		if j, is := o.(*grid.Job); is && j.Spec != nil {
			line = j.Spec.SubmitCommand
		}
		return nil
	})
	return line
}

func (s *consoleSession) Output(ctx context.Context, what gdi.Output) (*gdi.Part, error) {
	reply, err := s.Credential.Do(ctx, "", "quill web", &what)
	switch {
	case err != nil:
		return nil, pageProblem(problem.Unreachable(err))
	case reply.Output == nil:
		return nil, pageProblem(problem.OfReply(reply, problem.Nowhere))
	}
	return reply.Output, nil
}

func (s *consoleSession) Proposals(ctx context.Context) ([]*grid.Proposal, error) {
	all, err := proposalsOf(ctx, s.Credential, 0)
	return all, pageError(err)
}

func (s *consoleSession) End(ctx context.Context, w http.ResponseWriter) error {
	cookie, err := s.cell.entry.LogOut(ctx, s.Credential)
	if err == nil {
		http.SetCookie(w, &cookie)
	}
	return pageError(err)
}

// Do carries out an action with the bodies of the API's routes. One that is refused does not keep the next from being
// sent.
func (s *consoleSession) Do(ctx context.Context, a console.Action) (out []console.Outcome, seq uint64, err error) {
	command, bodies, out, err := s.bodies(a)
	if err != nil {
		return nil, 0, pageError(err)
	}
	for n, body := range bodies {
		reply, err := s.Credential.Do(ctx, requestID(s.User(), fmt.Sprint("act ", a.Key, " ", n)), command, body)
		if err != nil {
			return out, seq, pageError(problem.Unreachable(err))
		}
		seq = max(seq, reply.Seq)
		for _, answer := range reply.Answers {
			out = append(out, console.Outcome{Status: problem.StatusOf(answer.Status), Text: answer.Text})
		}
	}
	return out, seq, nil
}

// bodies returns the requests of an action, the command that they stand for, and what is refused without a request. The
// error is a problem.
func (s *consoleSession) bodies(
	a console.Action,
) (command string, out []gdi.Body, refused []console.Outcome, err error) {
	if a.Verb == "signal" {
		return "qmod", []gdi.Body{&gdi.Control{Action: a.Signal, Queues: a.Queues, Refs: a.Refs}}, nil, nil
	}
	switch a.Verb {
	case "configure":
		command, out, err = s.configuration(a)
		return command, out, nil, err
	case "approve", "reject":
		for _, ref := range a.Refs {
			number, err := strconv.ParseUint(ref, 10, 32)
			if err != nil {
				return "", nil, nil, problem.Invalid("ref", fmt.Errorf("%q is not a number of a proposal", ref))
			}
			out = append(out, &gdi.Decide{Proposal: uint32(number), Decision: gdi.Decision(a.Verb)})
		}
		return "quill-" + a.Verb, out, nil, nil
	}
	refs, err := switches.JobRefs(strings.Join(a.Refs, ","))
	if err != nil {
		return "", nil, nil, problem.Invalid("ref", parserError(err))
	}
	jobs := gdi.Jobs{Refs: refs}
	switch a.Verb {
	case "hold":
		return "qhold", []gdi.Body{&gdi.Alter{Jobs: jobs, HoldAdd: "u"}}, nil, nil
	case "release":
		return "qrls", []gdi.Body{&gdi.Alter{Jobs: jobs, HoldRemove: "u"}}, nil, nil
	case "delete":
		return "qdel", []gdi.Body{&gdi.DeleteJobs{Jobs: jobs}}, nil, nil
	case "alter":
		body, err := s.cell.alterRequest(nil, a.Options, strings.Join(a.Refs, ","), len(refs))
		return "qalter", []gdi.Body{body}, nil, err
	default:
		at, err := s.cell.mirror.Now()
		if err != nil {
			return "", nil, nil, problem.NoMirror(err)
		}
		for _, ref := range refs {
			// qmaster would have a manager run what the owner wrote
			if j := at.State.Job(ref.ID); j != nil && j.Owner != s.User() {
				refused = append(refused, console.Outcome{Status: http.StatusForbidden,
					Text: fmt.Sprintf("job %d belongs to %s: submitted again here, its script would run with your rights, unseen; "+
						"have the owner submit it, or see qresub(1)", j.ID, j.Owner)})
				continue
			}
			out = append(out, &gdi.Resubmit{Job: ref.ID})
		}
		return "qresub", out, refused, nil
	}
}

// configuration returns the request that changes an attribute of each object, all or none.
func (s *consoleSession) configuration(a console.Action) (command string, out []gdi.Body, err error) {
	at, err := s.cell.mirror.Now()
	if err != nil {
		return "", nil, problem.NoMirror(err)
	}
	change := &gdi.Change{}
	var objects []*ConfigObject
	for i, ref := range a.Refs {
		if i == 0 || ref != a.Refs[i-1] {
			kind, name, _ := strings.Cut(ref, "/")
			objects = append(
				objects, &ConfigObject{Kind: kind, Name: name, ConfigText: ConfigText{Attributes: map[string]setting{}}})
		}
		attribute, value, _ := strings.Cut(a.Options[i], "=")
		objects[len(objects)-1].Attributes[attribute] = settingOf(attribute, value)
	}
	for _, o := range objects {
		object, there, err := o.build(at, "form")
		switch {
		case err != nil:
			return "", nil, err
		case there:
			change.Modify = append(change.Modify, object)
		default:
			change.Add = append(change.Add, object)
		}
	}
	return "qconf", []gdi.Body{change}, nil
}
