package shares

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/quill-grid/quill/pkg/grid"
)

// UsagePolicy is how past usage counts: how fast it decays and how its values
// are weighed against each other; halftime, halflife_decay_list,
// usage_weight_list and params DECAY of sched_conf(5).
//
// Usage with a half-life of 0 never decays. With a negative one only running
// tasks count: the usage of a task is subtracted when it ends. finished_jobs has
// the half-life -1 unless halflife_decay_list names it, and so does not count by
// default, as in Grid Engine up to 8.1; "finished_jobs=0" counts them for ever.
type UsagePolicy struct {
	half    [len(grid.UsageNames)]float64 // half-lives in seconds; 0: no decay, negative: only while running
	linear  bool
	weights [len(grid.UsageNames)]float64 // their sum is 1
}

// decayInterval is the interval in seconds for which params DECAY=linear
// takes the decay to be linear.
const decayInterval = 60

// NewUsagePolicy reads the scheduler configuration. The error names the first
// invalid value; the policy holds all valid ones.
func NewUsagePolicy(c *grid.SchedConf) (p UsagePolicy, err error) {
	bad := func(format string, args ...any) {
		if err == nil {
			err = fmt.Errorf(format, args...)
		}
	}
	for i := range p.half {
		p.half[i] = float64(c.Halftime) * 3600
	}
	p.half[grid.UsageFinishedJobs] = -1
	for _, e := range strings.FieldsFunc(c.HalflifeDecayList, func(r rune) bool { return r == ':' || r == ' ' }) {
		if strings.EqualFold(e, "none") {
			continue
		}
		name, text, _ := strings.Cut(e, "=")
		minutes, perr := strconv.ParseFloat(text, 64)
		switch i := usageIndex(name); {
		case i < 0:
			bad("unknown usage type %q in halflife_decay_list", name)
		case perr != nil || math.IsNaN(minutes):
			bad("invalid half-life %q of %s in halflife_decay_list", text, name)
		default:
			p.half[i] = minutes * 60
		}
	}
	sum := 0.0
	for _, v := range c.UsageWeightList {
		w, perr := strconv.ParseFloat(v.Text, 64)
		switch i := usageIndex(v.Name); {
		case i < 0 || i == grid.UsageFinishedJobs:
			bad("unknown usage type %q in usage_weight_list", v.Name)
		case perr != nil || !(w >= 0) || math.IsInf(w, 0):
			bad("invalid weight %q of %s in usage_weight_list", v.Text, v.Name)
		default:
			p.weights[i] = w
			sum += w
		}
	}
	for i := range p.weights {
		if sum > 0 {
			p.weights[i] /= sum
		}
	}
	switch text, given := c.Param("DECAY"); {
	case strings.EqualFold(text, "linear"):
		p.linear = true
	case given && !strings.EqualFold(text, "exponential"):
		bad("invalid value %q for DECAY", text)
	}
	return p, err
}

func usageIndex(name string) int {
	for i, n := range grid.UsageNames {
		if n == name {
			return i
		}
	}
	return -1
}

// At returns a booking's decayed usage as of now.
func (p *UsagePolicy) At(b *grid.Booking, now grid.Time) grid.Amounts {
	a := b.Decayed
	seconds := now.Sub(b.At)
	if seconds <= 0 {
		return a
	}
	for i := range a {
		if a[i] != 0 {
			a[i] *= p.factor(p.half[i], seconds)
		}
	}
	return a
}

// factor returns the part of usage that remains after some seconds.
func (p *UsagePolicy) factor(half, seconds float64) float64 {
	switch {
	case half <= 0:
		return 1
	case p.linear:
		return math.Pow(max(1-math.Ln2/half*decayInterval, 0), seconds/decayInterval)
	}
	return math.Exp2(-seconds / half)
}

// Combined returns usage as one number: the weighted mean of the values.
func (p *UsagePolicy) Combined(a grid.Amounts) (usage float64) {
	for i, w := range p.weights {
		usage += a[i] * w
	}
	return usage
}

// Book adds what a task has consumed since its last booking. When the task has
// ended, ended is the sum of all its bookings, this one included.
func (p *UsagePolicy) Book(b grid.Booking, now grid.Time, more, ended grid.Amounts) grid.Booking {
	b.Decayed = p.At(&b, now).Plus(more)
	b.LongTerm = b.LongTerm.Plus(more)
	b.At = now
	for i, half := range p.half {
		if half < 0 {
			b.Decayed[i] = max(b.Decayed[i]-ended[i], 0)
		}
	}
	return b
}

// SameDecay reports whether usage decays alike under another policy.
func (p *UsagePolicy) SameDecay(o *UsagePolicy) bool { return p.half == o.half && p.linear == o.linear }
