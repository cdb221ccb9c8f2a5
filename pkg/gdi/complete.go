package gdi

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/quill-grid/quill/pkg/grid"
)

// bodies makes an empty body of each kind.
var bodies = []func() Body{
	empty[Add], empty[Modify], empty[Delete], empty[Change], empty[Submit], empty[Alter], empty[DeleteJobs],
	empty[Control], empty[Trigger], empty[Wait], empty[Get], empty[Verify],
	empty[Reserve], empty[DeleteARs], empty[History], empty[StartTask], empty[Resubmit], empty[CreateToken],
	empty[RevokeTokens],
	empty[WaysToLogIn], empty[LogIn], empty[Output], empty[Propose], empty[Decide], empty[Streams], empty[Explain],
}

var bodyOf = func() map[string]func() Body {
	m := make(map[string]func() Body, len(bodies))
	for _, make := range bodies {
		m[make().Verb()] = make
	}
	return m
}()

func empty[T any, P interface {
	*T
	Body
}]() Body {
	return P(new(T))
}

// Bodies returns an empty body of each kind.
func Bodies() (out []Body) {
	for _, make := range bodies {
		out = append(out, make())
	}
	return out
}

// NewBody returns an empty body by its verb, nil for an unknown one.
func NewBody(verb string) Body {
	if make := bodyOf[verb]; make != nil {
		return make()
	}
	return nil
}

// Complete checks a request and fills in what the sender may leave out. Afterwards the
// code that decides on the request may rely on this: Body is set; its object is set, and
// none in a list is nil; each job has a JobRequest and a Spec; an Alter has a job; kinds
// are known. qmaster calls it for each request that it receives, and the core for each
// that it decides on. The error names what is missing.
func (r *Request) Complete() error {
	if err := cmp.Or(r.origin(), r.bounded(), r.checkLines()); err != nil {
		return err
	}
	switch b := r.Body.(type) {
	case nil:
		return errors.New("it has no body")
	case *Submit:
		return completeJob(b, b.Job)
	case *Verify:
		return completeJob(b, b.Job)
	case *Alter:
		if b.Job == nil && len(b.Set) > 0 {
			return lacks(b, "job")
		}
		if b.Job == nil {
			b.Job = new(grid.Job)
		}
		return completeJob(b, b.Job)
	case *Reserve:
		if b.AR == nil {
			return lacks(b, "advance reservation")
		}
	case *StartTask:
		if b.Launch == nil {
			return lacks(b, "command")
		}
	case *Add:
		return completeObjects(b, b.Objects)
	case *Modify:
		return completeObjects(b, b.Objects)
	case *Change:
		if len(b.Delete.Keys) > 0 && grid.SpecOf(b.Delete.Kind) == nil {
			return completeKinds(b, b.Delete.Kind)
		}
		return errors.Join(completeObjects(b, b.Add), completeObjects(b, b.Modify))
	case *Delete:
		return completeKinds(b, b.Kind)
	case *Get:
		return completeKinds(b, b.Kinds...)
	case *Propose:
		return b.complete()
	case *Explain:
		return b.complete()
	}
	return nil
}

func completeKinds(b Body, kinds ...grid.Kind) error {
	for _, k := range kinds {
		if grid.SpecOf(k) == nil {
			return fmt.Errorf("%s of unknown kind %d", b.Verb(), k)
		}
	}
	return nil
}

func completeJob(b Body, j *grid.Job) error {
	if j == nil {
		return lacks(b, "job")
	}
	j.Complete()
	return nil
}

func completeObjects(b Body, objects []grid.Object) error {
	if slices.Contains(objects, nil) {
		return lacks(b, "object")
	}
	for _, o := range objects {
		if j, ok := o.(*grid.Job); ok {
			j.Complete()
		}
	}
	return nil
}

func lacks(b Body, what string) error { return fmt.Errorf("%s without its %s", b.Verb(), what) }
