package site

import (
	"strconv"
	"strings"

	"github.com/quill-grid/quill/pkg/complex"
	"github.com/quill-grid/quill/pkg/grid"
)

// policy is the scheduler configuration, sched_conf(5), as far as it decides
// what fits where.
type policy struct {
	Formula         complex.Formula
	BySeqNo         bool
	Adjustments     []adjustment // job_load_adjustments
	AdjustsRequests bool         // ... of attributes that jobs may request
	Decay           int64        // load_adjustment_decay_time, ms
	MaxUJobs        uint32
	MaxAJ           uint32 // max_aj_instances of sge_conf(5), 0 = no limit
	durations
}

// adjustment is the load one more slot is expected to bring.
type adjustment struct {
	attr   int
	amount float64
	perCPU bool // np_ values are divided by the number of processors
}

func newPolicy(x *complex.Attributes, c *grid.SchedConf, global *grid.Conf) policy {
	p := policy{durations: newDurations(c), MaxUJobs: c.MaxUJobs, BySeqNo: c.QueueSortMethod == "seqno", MaxAJ: 2000}
	p.Formula, _ = complex.ParseFormula(x, c.LoadFormula)
	decay, _ := c.LoadAdjustmentDecayTime.Seconds()
	p.Decay = int64(decay * 1000)
	for _, v := range c.JobLoadAdjustments {
		i := x.Find(v.Name)
		if i < 0 {
			continue
		}
		if n, ok := x.List[i].Type.Parse(v.Text); ok && n != 0 {
			p.Adjustments = append(p.Adjustments, adjustment{i, n, strings.HasPrefix(x.List[i].Name, "np_")})
			p.AdjustsRequests = p.AdjustsRequests || x.List[i].Column >= 0 || x.List[i].Requestable != "NO"
		}
	}
	if global != nil {
		if t, ok := global.Entries.Get("max_aj_instances"); ok {
			if n, err := strconv.ParseUint(t, 10, 32); err == nil {
				p.MaxAJ = uint32(n)
			}
		}
	}
	return p
}

// AdjustmentFor is the expected load of one slot, 0 for most attributes.
func (p *policy) AdjustmentFor(attr int) (amount float64, perCPU bool) {
	for _, a := range p.Adjustments {
		if a.attr == attr {
			return a.amount, a.perCPU
		}
	}
	return 0, false
}
