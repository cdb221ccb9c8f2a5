package grid

import (
	"reflect"
	"testing"
)

// TestChange: a change has what is new and nothing else that is large, and gives back the whole job.
func TestChange(t *testing.T) {
	old := &Job{ID: 7, Name: "a", JobRequest: &JobRequest{PE: "smp"}, Spec: &JobSpec{Command: "c"}}
	held, altered, moved := *old, *old, *old
	held.UserHold = Ranges{{First: 1, Last: 1, Step: 1}}
	altered.JobRequest = &JobRequest{PE: "mpi"}
	moved.Spec = &JobSpec{Command: "d"}
	for _, j := range []*Job{old, &held, &altered, &moved} {
		c := j.Change(old)
		if (c.JobRequest == nil) != (j.JobRequest == old.JobRequest) || (c.Spec == nil) != (j.Spec == old.Spec) {
			t.Errorf("%+v becomes the change %+v", j, c)
		}
		if whole := c.After(old); !reflect.DeepEqual(whole, j) {
			t.Errorf("%+v, not %+v", whole, j)
		}
		if whole := c.After(nil); whole.JobRequest == nil {
			t.Errorf("a change of an unknown job is incomplete: %+v", whole)
		}
	}
}
