package plan

// Cgroup is a control group (version 2) to make for an attempt, in a hierarchy that the shepherd may write. The
// attempt's processes are started inside, signalled and killed through it. The zero value means none: sessions and
// /proc serve.
type Cgroup struct {
	Path string

	// Job is the group of the whole job on this host, in which Path is to be made: the limits are its own. It is made by
	// the first attempt of the job and removed by the last. "": the job has one attempt here, and Path has the limits.
	Job string

	// Limits of the group; 0 is none.
	MemoryHigh uint64 // bytes: above them memory is reclaimed, and the job slowed down
	MemoryMax  uint64 // bytes: a job that needs more is killed as a whole, and nothing of it is swapped
	PidsMax    uint64 // processes and threads
	CPUWeight  uint64 // share of busy processors, from 1 to MaxWeight
	IOWeight   uint64 // share of busy disks, from 1 to MaxWeight
}

// WeightSlot is the weight of one slot; a group has it unless another is written. MaxWeight is the largest.
const (
	WeightSlot = 100
	MaxWeight  = 10000
)

// Limited returns the path of the group that has the limits.
func (g *Cgroup) Limited() string {
	if g.Job != "" {
		return g.Job
	}
	return g.Path
}
