package session

import (
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/submit"
)

// Run submits a job and returns its id, and what qmaster said.
func (s *Session) Run(t *Template) (id, said string, err error) {
	reply, said, err := s.submit(t, nil)
	if err != nil {
		return "", "", err
	}
	return jobID{job: reply.Job}.String(), said, nil
}

// RunBulk submits an array of the tasks first, first+step, ... up to last, or
// down to it with a negative step, and returns their ids.
func (s *Session) RunBulk(t *Template, first, last uint32, step int) (ids []string, said string, err error) {
	down := step < 0
	if down {
		first, last, step = last, first, -step
	}
	if first == 0 || last < first || step == 0 {
		return nil, "", because(InvalidArgument)
	}
	if down { // the same tasks, named from the other end
		first = last - (last-first)/uint32(step)*uint32(step)
	}
	reply, said, err := s.submit(t, &grid.Range{First: first, Last: last, Step: uint32(step)})
	if err != nil {
		return nil, "", err
	}
	grid.Ranges{reply.Tasks}.Each(func(n uint32) bool {
		ids = append(ids, jobID{reply.Job, n}.String())
		return true
	})
	if down {
		slices.Reverse(ids)
	}
	return ids, said, nil
}

// errorState is the variable that lets jobs of DRMAA get into state E.
const errorState = "SGE_DRMAA_ALLOW_JOB_ERROR_STATE"

// submit makes a job of a template, with these tasks, and submits it.
func (s *Session) submit(t *Template, tasks *grid.Range) (gdi.Reply, string, error) {
	said, origin := t.said(), s.origin()
	command, ok := said.one(remoteCommand)
	if !ok {
		return gdi.Reply{}, "", failf(DeniedByDRM, "job template must have %q attribute set", remoteCommand)
	}
	native := submit.Template{Command: command, Args: said[vArgv]}
	native.Category, _ = said.one(jobCategory)
	native.Native, _ = said.one(nativeSpecification)
	if dir, _ := said.one(workingDirectory); filepath.IsAbs(dir) {
		native.Dir = dir
	}
	sub, err := native.Submission(origin)
	if err != nil {
		return gdi.Reply{}, "", &Error{DeniedByDRM, strings.TrimRight(err.Error(), "\n")}
	}
	j := sub.Job
	if tasks != nil {
		j.Array, j.Tasks = true, *tasks
		j.Pending = grid.Ranges{*tasks}
		if len(j.UserHold) > 0 {
			j.UserHold = j.Pending
		}
	}
	if err := said.override(j, tasks != nil, time.Now(), origin.Getenv); err != nil {
		return gdi.Reply{}, "", err
	}
	j.Spec.Session, j.Spec.NoError = s.name, origin.Getenv(errorState) == ""
	if sub.Job, err = sub.Verified(s.ctx, "drmaa", func(string) {}); err != nil {
		return gdi.Reply{}, "", &Error{DeniedByDRM, err.Error()}
	}
	reply, err := s.do(&gdi.Submit{Job: sub.Job}, DeniedByDRM)
	return reply, text(reply), err
}

// text is what qmaster said, a line each.
func text(reply gdi.Reply) string {
	var lines []string
	for _, a := range reply.Answers {
		if a.Text != "" {
			lines = append(lines, a.Text)
		}
	}
	return strings.Join(lines, "\n")
}
