package qconf

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/quill-grid/quill/pkg/client"
	"github.com/quill-grid/quill/pkg/conf"
	"github.com/quill-grid/quill/pkg/document"
	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/opt"
	"github.com/quill-grid/quill/pkg/pattern"
	"github.com/quill-grid/quill/pkg/switches"
)

// commandLine is the command line.
type commandLine struct {
	steps  []step
	format switches.Format
}

// step is what one switch asks for.
type step struct {
	name string // of the switch
	mode mode
	do   func(*session) error
}

// mode is what a switch does.
type mode uint8

const (
	shows mode = iota + 1
	changes
	edits // changes in an editor
)

// errReported means that the user knows already what went wrong.
var errReported = errors.New("")

// refuse and refusal return an error in Grid Engine's wording, capitals included.
func refuse(format string, args ...any) error { return refusal(fmt.Sprintf(format, args...)) }
func refusal(text string) error               { return gdi.Refuse(gdi.StatusInvalid, text) }

// session is one run of the command.
type session struct {
	client.Client
	ctx context.Context
	env opt.Env

	json    bool              // -fmt json
	shown   document.Document // with it: what is shown, nil: results are printed
	replies []gdi.Reply       // with it: qmaster's answers to changes
	refused []document.RequestError
}

// run does the steps in order; later ones run although earlier ones failed.
func run(ctx context.Context, env opt.Env, l *commandLine) int {
	if len(l.steps) == 0 {
		return opt.Complain(env, command(), switches.Errorf("error: no option given"))
	}
	s := &session{ctx: ctx, env: env, json: l.format.JSON()}
	if err := l.oneDocument(); s.json && err != nil {
		return opt.Complain(env, command(), err)
	}
	code := 0
	c, err := env.Connect(ctx)
	if s.failed(err) {
		code = 1
	} else {
		defer c.Close()
		s.Client = c
		for _, step := range l.steps {
			if s.failed(step.do(s)) {
				code = 1
			}
		}
	}
	if err := s.write(); err != nil {
		return env.Fail(err)
	}
	return code
}

// write writes the document of -fmt json.
func (s *session) write() error {
	switch {
	case s.shown != nil:
		return document.WriteWith(s.env.Stdout, s.shown, func() []document.RequestError { return s.refused })
	case s.json:
		return document.Write(s.env.Stdout, document.ResultsOf(s.replies, s.refused...))
	}
	return nil
}

// failed reports whether there is an error. One that was not printed yet is printed, or becomes part of the document.
func (s *session) failed(err error) bool {
	if err == nil || errors.Is(err, errReported) {
		return err != nil
	}
	s.suggest(err)
	if s.json {
		s.refused = append(s.refused, opt.RequestError(err))
	} else {
		s.env.Report(err, 1)
	}
	return true
}

// suggest adds to an error about an object that does not exist the name that is nearest to it.
func (s *session) suggest(err error) {
	var refusal *gdi.Refusal
	if !errors.As(err, &refusal) || refusal.Status != gdi.StatusUnknown || refusal.About == nil ||
		refusal.About.Name == "" {
		return
	}
	refusal.Hint = pattern.Suggest(refusal.About.Name, func(yield func(string) bool) {
		more := true
		_, _ = s.Get(s.ctx, gdi.Get{Kinds: []grid.Kind{refusal.About.Kind}}, func(o grid.Object) error {
			more = more && yield(o.Key().Name)
			return nil
		}) // the error is reported without a hint
	})
}

func (s *session) print(text string)                 { fmt.Fprint(s.env.Stdout, text) }
func (s *session) printf(format string, args ...any) { fmt.Fprintf(s.env.Stdout, format, args...) }

// style is how text is laid out: SGE_SINGLE_LINE keeps long lines whole.
func (s *session) style() conf.Style {
	v := s.env.Getenv("SGE_SINGLE_LINE")
	return conf.Style{SingleLine: v != "" && v != "0" && !strings.EqualFold(v, "false")}
}

// note prints what was done, on stderr, so that stdout has only what was asked
// for.
func (s *session) note(format string, args ...any) { fmt.Fprintf(s.env.Stderr, format, args...) }

// ask sends a request and prints qmaster's answer. Grid Engine reports new resource
// quota sets and users on stdout.
func (s *session) ask(body gdi.Body) error {
	reply, err := s.send(body)
	if err != nil {
		return err
	}
	env := s.env
	if !onStdout(body) {
		env.Stdout = env.Stderr
	}
	return s.showAnswers(env, reply)
}

// showAnswers prints qmaster's answers, or keeps them for the results. It fails when something was refused.
func (s *session) showAnswers(env opt.Env, reply gdi.Reply) error {
	if s.json {
		s.replies = append(s.replies, reply)
	} else {
		env.PrintErrors(reply.Answers)
	}
	if !reply.OK() {
		return errReported
	}
	return nil
}

// warn prints a remark on a change, or keeps it for the results.
func (s *session) warn(text string) {
	if s.json {
		s.replies = append(s.replies, gdi.Reply{Answers: []gdi.Answer{gdi.Warn(text)}})
	} else {
		s.print(text + "\n")
	}
}

// send sends a request; unknown hosts are refused before.
func (s *session) send(body gdi.Body) (gdi.Reply, error) {
	if err := s.resolve(body); err != nil {
		return gdi.Reply{}, err
	}
	return s.Do(s.ctx, "qconf", body)
}

func onStdout(body gdi.Body) bool {
	all := func(objects []grid.Object, kinds ...grid.Kind) bool {
		return !slices.ContainsFunc(objects, func(o grid.Object) bool { return !slices.Contains(kinds, o.Kind()) })
	}
	switch b := body.(type) {
	case *gdi.Add:
		return all(b.Objects, grid.KindRQS, grid.KindUser)
	case *gdi.Modify:
		return all(b.Objects, grid.KindUser)
	case *gdi.Trigger:
		return strings.HasPrefix(b.Action, "show-")
	}
	return false
}

// objects returns the objects of a kind in key order: those named, or all.
func (s *session) objects(kind grid.Kind, names ...string) (out []grid.Object, err error) {
	get := gdi.Get{Kinds: []grid.Kind{kind}}
	for _, n := range names {
		get.Where.Keys = append(get.Where.Keys, grid.Key{Name: n})
	}
	_, err = s.Get(s.ctx, get, func(o grid.Object) error { out = append(out, o); return nil })
	return out, err
}

// object returns one object, nil when there is none of this name.
func (s *session) object(kind grid.Kind, name string) (grid.Object, error) {
	list, err := s.objects(kind, name)
	if err != nil || len(list) == 0 {
		return nil, err
	}
	return list[0], nil
}

// attempts is how often a change is tried on an object that others change at
// the same time.
const attempts = 5

// change reads an object, changes it and sends it; when it was changed meanwhile,
// again. What -aattr and its like have done is printed on stdout. missing is the error
// when there is no such object.
func (s *session) change(kind grid.Kind, name string, missing error, f func(grid.Object) (grid.Object, error)) error {
	for n := 1; ; n++ {
		old, err := s.object(kind, name)
		if err == nil && old == nil {
			err = missing
		}
		if err != nil {
			return err
		}
		changed, err := f(old)
		if err != nil {
			return err
		}
		reply, err := s.send(&gdi.Modify{Objects: []grid.Object{changed}})
		if err != nil {
			return err
		}
		if n < attempts && len(reply.Answers) > 0 && reply.Answers[0].Status == gdi.StatusStale {
			continue
		}
		return s.showAnswers(s.env, reply)
	}
}

// each does something with each name; later ones are tried although earlier
// ones failed.
func (s *session) each(names []string, f func(string) error) error {
	var err error
	for _, n := range names {
		if s.failed(f(n)) {
			err = errReported
		}
	}
	return err
}
