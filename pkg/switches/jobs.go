package switches

import (
	"strconv"
	"strings"

	"github.com/quill-grid/quill/pkg/gdi"
)

// JobRefs reads a job_task_list: job_id[.task_id_range], job names and
// patterns, separated by commas. Each stands for all tasks when it names none.
func JobRefs(text string) ([]gdi.JobRef, error) {
	var refs []gdi.JobRef
	for _, word := range strings.FieldsFunc(text, func(r rune) bool { return r == ',' || r == ' ' }) {
		ref, err := jobRef(word)
		if err != nil {
			return nil, err
		}
		refs = append(refs, ref)
	}
	return refs, nil
}

func jobRef(word string) (ref gdi.JobRef, err error) {
	id, tasks, dotted := strings.Cut(word, ".")
	n, numErr := strconv.ParseUint(id, 10, 32)
	switch {
	case numErr != nil:
		return gdi.JobRef{Name: word}, nil
	case n == 0:
		return ref, Errorf("ERROR! %q is an invalid job-task identifier", word)
	}
	ref.ID = uint32(n)
	if dotted {
		ref.Tasks, err = TaskRanges(tasks)
	}
	return ref, err
}

// JobWord takes one word of a job_task_list: the work of a Command.Operand.
func JobWord(refs *[]gdi.JobRef, rest []string) (taken int, err error) {
	more, err := JobRefs(rest[0])
	*refs = append(*refs, more...)
	return 1, err
}

// RestrictTasks is the -t after a job of a job_task_list.
func RestrictTasks(refs []gdi.JobRef, text string) error {
	if len(refs) == 0 {
		return LonelyTasks(text)
	}
	tasks, err := TaskRanges(text)
	if err != nil {
		return err
	}
	refs[len(refs)-1].Tasks = tasks
	return nil
}

// LonelyTasks refuses a -t that stands after no job.
func LonelyTasks(text string) error {
	return Errorf("found lonely '-t %s' option (The -t option needs a leading job name).", text)
}

// UnknownHolds refuses a hold_list.
func UnknownHolds(text string) error {
	return Invalidf("Unknown hold list %q specified to -h option", text)
}

// CheckJobs refuses a command line that names no jobs, or both jobs and users.
func CheckJobs(jobs gdi.Jobs) error {
	switch {
	case len(jobs.Refs) == 0 && len(jobs.Users) == 0:
		return ErrNoOperands
	case len(jobs.Refs) > 0 && len(jobs.Users) > 0:
		return Errorf("-u option is not allowed in combination with a job_task_list")
	}
	return nil
}

// JobTaskListLegend explains how jobs and tasks are named.
const JobTaskListLegend = "" +
	"job_task_list           job_tasks[,job_tasks,...]\n" +
	"job_tasks               [job_id['.'task_id_range]|job_name|pattern][' -t 'task_id_range]\n" +
	"task_id_range           task_id['-'task_id[':'step]]\n"

// JobOperandLegend is the line of help for a job_task_list as operand.
const JobOperandLegend = "" +
	"   job_task_list                            jobids (and taskids) of jobs to be altered\n"
