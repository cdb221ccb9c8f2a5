package explain

import (
	"testing"

	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/sched"
)

// What a job holds is said once, whatever lies between.
func TestInstancesByHolder(t *testing.T) {
	l := sched.Lack{LeftText: "1", OfText: "6", Instances: []sched.InstanceUse{
		{ID: "A", Jobs: []uint32{4}}, {ID: "B", Health: &grid.Instance{Disabled: true}}, {ID: "C", Jobs: []uint32{4, 5}},
		{ID: "D", Jobs: []uint32{4}}, {ID: "E", Free: 1}, {ID: "F", Jobs: []uint32{6}},
	}}
	if got, want := instancesText(l),
		"1 of 6 free (E); A D held by job 4, C held by jobs 4, 5, F held by job 6, B disabled"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
