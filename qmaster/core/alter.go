package core

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/qmaster/core/cell"
	"github.com/quill-grid/quill/qmaster/core/validate"
)

// alter executes qalter(1), qhold(1) and qrls(1). Each job succeeds or fails alone. When
// one word of the request selects several jobs that the user does not own, the first of
// them is denied and the others are skipped.
func (c *Core) alter(in UserRequest, b *gdi.Alter) {
	r := in.Request
	if refusal := cmp.Or(gdi.Denied(validate.Unverified(c.cell, b)), validate.WhenNow(b)); refusal != nil {
		c.reply(in.Ref, *refusal)
		return
	}
	jobs, answers := c.cell.ChooseJobs(r, b.Jobs)
	denied := -1 // the last word of the request of which a job was denied: once for each
	c.eachChosen(&perJob{in: in, jobs: jobs, do: func(x cell.ChosenJob) (said []gdi.Answer) {
		if !c.cell.Owns(r, x.Job) {
			if x.Word == denied {
				return nil
			}
			denied = x.Word
			return []gdi.Answer{gdi.Deny(gdi.StatusNotOwner,
				fmt.Sprintf("denied: %q must be at least owner of job %d to change job attributes", r.User, x.Job.ID)).On(
				gdi.Subject{Job: x.Job.ID})}
		}
		switch {
		case len(b.Set) > 0 && !x.All:
			said = append(said, gdi.Deny(gdi.StatusInvalid, "denied: the selected option works only on jobs and not on tasks").
				On(gdi.Subject{Job: x.Job.ID}))
		case len(b.Set) > 0:
			said = append(said, altered(x.Job, c.alterJob(r, b, x))...)
		}
		if b.HoldAdd != "" || b.HoldRemove != "" {
			said = append(said, altered(x.Job, c.alterHold(r, b, x))...)
		}
		if b.ClearError {
			said = append(said, about(x.Job.ID, c.clearError(r, x))...)
		}
		return said
	}}, answers...)
}

// altered says of answers what they are about: a job that was modified, unless they refuse it.
func altered(j *grid.Job, answers []gdi.Answer) []gdi.Answer {
	for n, a := range answers {
		if a.About == nil && a.Quality == gdi.Info {
			answers[n] = a.On(onJob(j, gdi.DidModify, nil))
		}
	}
	return about(j.ID, answers)
}

func (c *Core) alterJob(r gdi.Request, b *gdi.Alter, x cell.ChosenJob) []gdi.Answer {
	old := c.state.Job(x.Job.ID)
	j := *old
	j.Ask()
	started := false
	for _, t := range c.state.Tasks(j.ID) {
		started = started || t.Started()
	}
	answers, refused := validate.SetAttributes(c.cell, r, b, &j, started)
	if refused {
		return answers
	}
	if refusal := validate.AlteredJob(c.cell, r, b, old, &j); refusal != nil {
		return []gdi.Answer{*validate.WithHint(c.cell, refusal, b.Job)}
	}
	if slices.Contains(b.Set, "w") {
		said, goOn := validate.VerifyAltered(c.cell, &j, started)
		if answers = append(answers, said...); !goOn {
			return said
		}
	}
	tasks, text := validate.LimitTasks(c.cell, b, old, &j)
	if refusal := gdi.Invalid("l", text); refusal != nil {
		return []gdi.Answer{*refusal}
	}
	j.Version++
	validate.KeepLimits(c.cell, b, old, &j)
	if reflect.DeepEqual(j.JobRequest, old.JobRequest) { // shared again, so that the event need not repeat it
		j.JobRequest = old.JobRequest
	}
	if refusal := cmp.Or(tooBig(&j), c.refuseMemory(j.Owner, old, &j)); refusal != nil {
		return []gdi.Answer{*refusal}
	}
	c.emit(events.Mod(&j))
	c.emitLimits(tasks)
	return answers
}

// alterHold sets and removes holds. Users may change user holds, operators
// operator holds, managers all. When one of the holds to be set is refused, none
// is set; of those to be removed each stands for itself, and what is not there
// needs no right.
func (s *step) alterHold(r gdi.Request, b *gdi.Alter, x cell.ChosenJob) (answers []gdi.Answer) {
	for _, l := range b.HoldAdd + b.HoldRemove {
		if !strings.ContainsRune("uos", l) {
			return []gdi.Answer{gdi.Deny(gdi.StatusInvalid, fmt.Sprintf("denied: unknown hold %q", l))}
		}
	}
	j := *s.state.Job(x.Job.ID)
	tasks := x.PendingOf()
	for _, t := range s.cell.EnrolledOf(x) {
		tasks = tasks.With(t.ID)
	}
	var changed grid.Ranges
	next, refused := j, false
	for _, h := range []struct {
		letter    string
		list      *grid.Ranges
		who, what string
		may       bool
	}{
		{"s", &next.SysHold, "manager", "manager hold", s.cell.IsManager(r)},
		{"o", &next.OperHold, "operator", "operator hold", s.cell.IsOperator(r)},
		{"u", &next.UserHold, "", "user hold", true},
	} {
		list, change := *h.list, "set"
		if strings.Contains(b.HoldAdd, h.letter) {
			list = list.Plus(tasks)
		}
		if strings.Contains(b.HoldRemove, h.letter) {
			change = "remove"
			if x.All {
				list = nil
			} else {
				list = list.Minus(tasks)
			}
		}
		switch {
		case list.Count() == h.list.Count():
		case !h.may:
			refused = refused || change == "set"
			answers = append(answers, gdi.Deny(gdi.StatusDenied,
				fmt.Sprintf("denied: %q must be %s to %s %s", r.User, h.who, change, h.what)))
		default:
			changed = changed.Plus(list.Minus(*h.list)).Plus(h.list.Minus(list))
			*h.list = list
		}
	}
	if len(changed) == 0 || refused {
		return answers
	}
	if !x.All { // a whole hold has as many ranges as the job has already
		if refusal := s.refuseMemory(j.Owner, x.Job, &next); refusal != nil {
			return append(answers, *refusal)
		}
	}
	j = next
	j.Version++
	s.emit(events.Mod(&j))
	return append(answers, holdAnswers(&j, changed)...)
}

// holdAnswers are what is said of tasks whose hold has changed.
func holdAnswers(j *grid.Job, changed grid.Ranges) (answers []gdi.Answer) {
	switch {
	case !j.Array:
		return []gdi.Answer{gdi.Done(fmt.Sprintf("modified hold of job %d", j.ID))}
	case changed.Count() > heldApart:
		text := fmt.Sprintf("modified hold of job-array tasks %s of job %d", taskList(changed), j.ID)
		return []gdi.Answer{gdi.Done(text).On(onJob(j, gdi.DidModify, changed))}
	}
	changed.Each(func(n uint32) bool {
		text := fmt.Sprintf("modified hold of job-array task %d.%d", j.ID, n)
		answers = append(answers, gdi.Done(text).On(onTask(j, gdi.DidModify, n)))
		return true
	})
	return answers
}

// heldApart is how many tasks of an array are answered each on a line of its own.
const heldApart = 1000
