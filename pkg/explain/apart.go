package explain

import (
	"fmt"
	"strings"

	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/reason"
)

// TasksApart is tasks of a job that wait for what others of it do not.
type TasksApart struct {
	Code  reason.Code
	Tasks grid.Ranges
}

// splitTasks returns the tasks of a job that are in error or held, each once, and how many others of it wait.
func (e *Explainer) splitTasks(j *grid.Job) (apart []TasksApart, free int) {
	free = int(j.Eligible().Count())
	var failed grid.Ranges
	for _, t := range e.st.Tasks(j.ID) {
		switch {
		case t.Started() || t.Status == grid.Finished:
		case t.State&grid.StateError != 0:
			failed = failed.With(t.ID)
		default:
			free++
		}
	}
	if len(failed) > 0 {
		apart = append(apart, TasksApart{reason.InError, failed})
	}
	left := j.Pending
	for _, h := range [...]TasksApart{{reason.HeldByUser, j.UserHold}, {reason.HeldByOperator, j.OperHold},
		{reason.HeldBySystem, j.SysHold}, {reason.HeldForArray, j.ArrayHold}} {
		rest := left.Minus(h.Tasks)
		if held := left.Minus(rest); len(held) > 0 {
			apart = append(apart, TasksApart{h.Code, held})
		}
		left = rest
	}
	return apart, free
}

// tasksApart returns the tasks of an array that wait for what the others that wait do not; none if all wait so.
func (a *question) tasksApart() []TasksApart {
	apart, free := a.splitTasks(a.j)
	if free == 0 {
		return nil
	}
	return apart
}

// apartText returns what the tasks apart wait for: 3 more tasks are held by their owner (4-6).
func (a *Explanation) apartText() string {
	var texts []string
	for _, t := range a.Apart {
		words := "%d more tasks are %s (%s)"
		switch n := t.Tasks.Count(); {
		case t.Code == reason.HeldForArray && n == 1:
			words = "%d more task must %s (%s)"
		case t.Code == reason.HeldForArray:
			words = "%d more tasks must %s (%s)"
		case n == 1:
			words = "%d more task is %s (%s)"
		}
		texts = append(texts, fmt.Sprintf(words, t.Tasks.Count(), ownTexts[t.Code], t.Tasks))
	}
	if texts == nil {
		return ""
	}
	return " " + strings.Join(texts, "; ") + "."
}
