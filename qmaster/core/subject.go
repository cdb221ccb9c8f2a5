package core

import (
	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/grid"
)

// onJob is what was done to a job, or to tasks of an array.
func onJob(j *grid.Job, did gdi.Did, tasks grid.Ranges) gdi.Subject {
	if !j.Array {
		tasks = nil
	}
	return gdi.Subject{Job: j.ID, Tasks: tasks, Did: did}
}

// onTask is what was done to a task.
func onTask(j *grid.Job, did gdi.Did, task uint32) gdi.Subject {
	return onJob(j, did, grid.Ranges{{First: task, Last: task, Step: 1}})
}

// onObject is what was done to a configuration object.
func onObject(k grid.Kind, key grid.Key, did gdi.Did) gdi.Subject {
	return gdi.Subject{Kind: k, Name: key.Name, Did: did}
}

// about says of answers that do not say what they are about that they are about a job.
func about(job uint32, answers []gdi.Answer) []gdi.Answer {
	for n, a := range answers {
		if a.About == nil {
			answers[n] = a.On(gdi.Subject{Job: job})
		}
	}
	return answers
}
