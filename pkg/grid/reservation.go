package grid

// JobReservation is what scheduling runs keep free for a task that waits, max_reservation of
// sched_conf(5): no job starts there that would still hold it then. It is no advance
// reservation, which a user makes (AR). It goes when the task starts, is held or in error,
// and when its job is altered or gone.
type JobReservation struct {
	Job, Task uint32
	Start     Time // when the task is expected to start
	End       Time // when it is assumed to end; Never: without end
	Grants    []Grant
	PE        string `see:"keep"`
	At        Time   // of the run that made it
	Run       uint64 // its number, 0: not known
}

func (*JobReservation) Kind() Kind { return KindJobReservation }
func (r *JobReservation) Key() Key { return Key{ID: r.Job, Sub: r.Task} }
