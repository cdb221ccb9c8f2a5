package outcome

// Outcome is what became of a workload.
type Outcome struct {
	Name     string
	Policy   string     // the algorithm that decided; "": unknown
	Slots    int64      // of the machine
	Jobs     []EndedJob // in the order of submission
	Lost     []Lost
	Projects []Project
	// Window is of a part of a workload: the seconds from 0 on that use and queue are of. 0: they are of the time from
	// the first submission to the last end.
	Window float64
	// Others are attempts in the window that are not of Jobs, as of jobs that have not ended: they count for use and
	// queue, and for nothing else.
	Others []EndedJob
}

// EndedJob is a job that has ended, or a task of an array. Seconds count from whenever
// the workload began.
type EndedJob struct {
	Submit, Start, End float64 // seconds
	Slots              int64
	User               int     // who has which colour
	Project            int     // place in Projects, -1 none; of no meaning when there are none
	Deadline           float64 // second by which it should have started; 0: none
}

func (j *EndedJob) wait() float64 { return j.Start - j.Submit }
func (j *EndedJob) run() float64  { return j.End - j.Start }

// Project is one whose shares are shown.
type Project struct {
	Name     string
	Entitled float64 // its part by the weights, 0 ... 1; 0: unknown
	Promised float64 // the part that the algorithm's own rule gives it while all wait; 0: unknown
}

// Lost is an attempt that was ended so that the job waited again.
type Lost struct {
	Job        int     // place in Jobs
	Start, End float64 // seconds
}
