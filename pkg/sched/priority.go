package sched

import "github.com/quill-grid/quill/pkg/grid"

// The weights of sched_conf(5) as shipped give what a job's priority is when
// neither urgency nor tickets distinguish jobs: each of these terms is 0.5.
const undistinguished = 0.5

// Priority is a job's dispatch priority, sge_priority(5):
//
//	weight_priority × npprior + weight_urgency × nurg + weight_ticket × ntckts
//
// npprior is the -p value normalised to 0 ... 1 over lo ... hi, or 0.5 when
// they are the same; nurg and ntckts come as computed.
func Priority(conf *grid.SchedConf, posix, lo, hi int32, nurg, ntckts float64) float64 {
	return conf.WeightPriority*Normalise(float64(posix), float64(lo), float64(hi)) +
		conf.WeightUrgency*nurg + conf.WeightTicket*ntckts
}

// Normalise maps lo ... hi to 0 ... 1; when they are the same, to 0.5.
func Normalise(v, lo, hi float64) float64 {
	if hi-lo < 0.00001 {
		return undistinguished
	}
	return (v - lo) / (hi - lo)
}

// POSIXPriority is the priority of a job by -p alone over the whole range
// that can be submitted, so that it does not change while others come and go.
func POSIXPriority(conf *grid.SchedConf, posix int32) float64 {
	return Priority(conf, posix, -1024, 1024, undistinguished, undistinguished)
}
