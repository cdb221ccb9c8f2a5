package outcome

import "slices"

// Share is how a project fared. How much it has used in the end says nothing:
// that is what its users submitted. What a scheduler decides is whose jobs run
// while there are more than fit.
type Share struct {
	Project   string  `json:"project"`
	Jobs      int     `json:"jobs"`
	Entitled  float64 `json:"entitled,omitzero" jsonschema:"its part by the weights, 0 to 1; absent: not known"`
	Promised  float64 `json:"promised,omitzero" jsonschema:"its part by the rule of the algorithm, 0 to 1; absent: not known"`
	Contended float64 `json:"contended" jsonschema:"its part of what ran while jobs of it waited, 0 to 1"`
	MeanWait  float64 `json:"mean_wait_s" jsonschema:"seconds"`
	WaitOf95  float64 `json:"p95_wait_s" jsonschema:"seconds"`
	Slowdown  float64 `json:"mean_bounded_slowdown"`
}

// Shares are those of all projects.
func (o *Outcome) Shares() []Share {
	shares := make([]Share, len(o.Projects))
	if len(shares) == 0 {
		return nil
	}
	waits := make([][]float64, len(shares))
	for i := range o.Jobs {
		j := &o.Jobs[i]
		s := &shares[j.Project]
		waits[j.Project] = append(waits[j.Project], j.wait())
		s.Jobs++
		s.MeanWait += j.wait()
		s.Slowdown += j.slowdown()
	}
	own, all := o.contended()
	for i := range shares {
		s := &shares[i]
		s.Project, s.Entitled, s.Promised = o.Projects[i].Name, o.Projects[i].Entitled, o.Projects[i].Promised
		if all[i] > 0 {
			s.Contended = own[i] / all[i]
		}
		if s.Jobs > 0 {
			slices.Sort(waits[i])
			s.WaitOf95 = percentile(waits[i], 95)
			s.MeanWait, s.Slowdown = s.MeanWait/float64(s.Jobs), s.Slowdown/float64(s.Jobs)
		}
	}
	return shares
}

// contended are the slot seconds that each project, and that all, used
// while jobs of it waited.
func (o *Outcome) contended() (own, all []float64) {
	n := len(o.Projects)
	own, all = make([]float64, n), make([]float64, n)
	o.stretches(func(first, last float64, busy, waiting []int64) {
		sum := int64(0)
		for _, b := range busy {
			sum += b
		}
		for p, w := range waiting {
			if w > 0 {
				own[p] += (last - first) * float64(busy[p])
				all[p] += (last - first) * float64(sum)
			}
		}
	})
	return own, all
}

// stretches calls f for each time in which nothing changed, with the slots
// in use and the jobs that wait, by project.
func (o *Outcome) stretches(f func(first, last float64, busy, waiting []int64)) {
	busy, waiting := make([]int64, len(o.Projects)), make([]int64, len(o.Projects))
	changes := o.changes()
	for i, c := range changes {
		if i > 0 && changes[i-1].second < c.second {
			f(changes[i-1].second, c.second, busy, waiting)
		}
		if c.project >= 0 {
			busy[c.project] += c.busy
			waiting[c.project] += int64(c.waiting)
		}
	}
}
