package algorithm

import "github.com/quill-grid/quill/pkg/grid"

// Values of the parameter preemption: what becomes of a preempted task.
const (
	Requeue = "requeue" // it ends and starts anew
	Suspend = "suspend" // it gives its slots back and is suspended
)

// Preemptions are the values of the parameter.
func Preemptions() grid.Names { return grid.Names{Requeue, Suspend} }
