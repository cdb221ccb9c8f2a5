package grid

// Priority is what the last scheduling runs found for a pending job, or for
// all tasks of a job that has started: the columns of qstat -ext, -urg and
// -pri, sge_priority(5). Tickets are those of the job's next task; tasks that
// have started keep theirs in JATask. It comes with the first run that says
// so, and goes with the job.
type Priority struct {
	Job                                   uint32
	Priority                              float64 // dispatch priority
	NPOSIX, NUrgency, NTickets            float32 // normalised to 0 ... 1
	Urgency, RRContr, WTContr, DLContr    float32
	Tickets, OTickets, FTickets, STickets float32
	Share                                 float32
}

func (*Priority) Kind() Kind { return KindPriority }
func (p *Priority) Key() Key { return Key{ID: p.Job} }

// PriorityRange contains the ranges over which a scheduling run normalised the terms of
// priorities, sge_priority(5). It is sent while more jobs wait than have a Priority: the
// priorities of the others follow from it. It is also sent where priorities change with
// time alone: then only tickets are sent again for each job and task.
type PriorityRange struct {
	At                          Time    // of the run
	LeastPriority, MostPriority float64 // -p
	LeastUrgency, MostUrgency   float64
	MostTickets                 float64 // of any task; 0 without ticket policies
}

func (*PriorityRange) Kind() Kind { return KindPriorityRange }
func (*PriorityRange) Key() Key   { return Key{Name: "range"} }
