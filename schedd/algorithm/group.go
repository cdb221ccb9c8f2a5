package algorithm

import (
	"strings"

	"github.com/quill-grid/quill/pkg/grid"
)

// Groupings are the criteria by which jobs can be grouped, parameter group_by.
func Groupings() grid.Names { return grid.Names{"project", "department", "queue", "owner"} }

// GroupOf is the group of a job under a grouping, "" when it is of none. Its
// queue is the first that it asks for.
func GroupOf(grouping string, j *grid.Job) string {
	switch grouping {
	case "project":
		return j.Project
	case "department":
		return j.Department
	case "owner":
		return j.Owner
	}
	if len(j.HardQueues) == 0 {
		return ""
	}
	queue, _, _ := strings.Cut(j.HardQueues[0], "@")
	return queue
}

// ContextOf returns a word of the context of a job, -ac of submit(1): "" when it has none of that name.
func ContextOf(j *grid.Job, name string) string {
	if j.Spec == nil {
		return ""
	}
	text, _ := j.Spec.Context.Get(name)
	return text
}
