package core

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/qmaster/core/validate"
)

// submit makes a job of a user's request, or answers why not, submit(1).
func (c *Core) submit(in UserRequest, submitted *grid.Job) {
	j, refusal := validate.NewJob(c.cell, in.Request, cmp.Or(in.Job, c.nextJob()), submitted)
	if refusal == nil {
		refusal = cmp.Or(gdi.DenyField(gdi.StatusLimit, "", validate.TooManyJobs(c.cell, j)), tooBig(j),
			c.refuseMemory(j.Owner, nil, j))
	}
	if refusal != nil {
		c.reply(in.Ref, *validate.WithHint(c.cell, refusal, submitted))
		return
	}
	to, warning := validate.Mailable(j.Spec.MailTo)
	if len(warning) > 0 { // the specification is shared with jobs submitted alike
		spec := *j.Spec
		spec.MailTo = to
		j.Spec = &spec
	}
	warning = append(warning, validate.WarnOfScript(c.cell, j)...)
	switch mode := j.Spec.Verify; mode {
	case "n":
	case "":
		if never := c.feasibility.WhyNever(c.state, c.cluster, j, c.cell.Now); never != "" {
			warning = append(warning, gdi.Warn("warning: "+never))
		}
	default:
		reasons := validate.WhyUnplaceable(c.cell, j, mode)
		switch {
		case len(reasons) > 0 && mode == "e":
			c.reply(in.Ref, *gdi.Invalid("w", validate.NoSuitableQueues))
			return
		case len(reasons) > 0 && mode == "w":
			warning = append(warning, gdi.Warn("warning: no suitable queues"))
		case mode == "v" || mode == "p":
			c.reply(in.Ref, validate.Verified(validate.JobWord(j), reasons)...)
			return
		}
	}
	c.emit(events.Add(j))
	c.createAutomaticUser(j.Owner)
	c.answerSubmitted(in.Ref, j, j.ID, append(validate.CopyOfOthers(c.cell, in.User, in.CopyOf), warning...)...)
}

// resubmit makes a job like another one.
func (c *Core) resubmit(in UserRequest, b *gdi.Resubmit) {
	submitted, refusal := c.Like(in.Request, b)
	if submitted == nil {
		c.reply(in.Ref, refusal)
		return
	}
	in.CopyOf = b.Job
	c.submit(in, submitted)
}

// Like returns a new job that copies an existing one, or nil and the refusal.
func (c *Core) Like(r gdi.Request, b *gdi.Resubmit) (*grid.Job, gdi.Answer) {
	j, about := c.state.Job(b.Job), gdi.Subject{Job: b.Job}
	switch {
	case j == nil:
		return nil, gdi.Deny(gdi.StatusUnknown, fmt.Sprintf("job \"%d\" does not exist", b.Job)).On(about)
	case j.Owner != r.User && !c.cell.IsManager(r):
		return nil, gdi.Deny(gdi.StatusNotOwner, fmt.Sprintf("job rejected: %s@%s is not allowed to resubmit jobs of user %s",
			r.User, r.Host, j.Owner)).On(about)
	case j.Spec.Connect != "":
		return nil,
			gdi.Invalid("", fmt.Sprintf("job rejected: job %d is an interactive job, which can't be resubmitted", j.ID)).On(
				about)
	}
	submitted := *j
	held := func(letter string) grid.Ranges {
		if strings.Contains(b.Hold, letter) {
			return grid.Ranges{j.Tasks}
		}
		return nil
	}
	submitted.UserHold, submitted.OperHold, submitted.SysHold = held("u"), held("o"), held("s")
	if j.Spec.Session != "" {
		spec := *j.Spec
		spec.Session, spec.NoError = "", false
		submitted.Spec = &spec
	}
	return &submitted, gdi.Answer{}
}

// answerSubmitted answers a submit with the sentence that clients wait for.
func (s *step) answerSubmitted(ref uint64, j *grid.Job, id uint32, before ...gdi.Answer) {
	text := append(make([]byte, 0, 80), "Your job"...)
	if t := j.Tasks; j.Array {
		text = fmt.Appendf(text, "-array %d.%d-%d:%d", id, t.First, t.Last, max(t.Step, 1))
	} else {
		text = strconv.AppendUint(append(text, ' '), uint64(id), 10)
	}
	text = append(strconv.AppendQuote(append(text, " ("...), j.Name), ") has been submitted"...)
	s.reply(ref, append(before, gdi.Done(string(text)))...)
	r := s.lastReply()
	r.Job, r.Tasks, r.Array = id, j.Tasks, j.Array
	r.Seq = s.state.Seq // also of a repeated request, which changes nothing
}

// verify answers qsub -w v|p for a job that is not submitted.
func (c *Core) verify(r UserRequest, b *gdi.Verify) []gdi.Answer {
	j, refusal := validate.NewJob(c.cell, r.Request, cmp.Or(r.Job, c.nextJob()), b.Job)
	if refusal != nil {
		return []gdi.Answer{*validate.WithHint(c.cell, refusal, b.Job)}
	}
	return validate.Verified(validate.JobWord(j), validate.WhyUnplaceable(c.cell, j, b.Mode))
}
