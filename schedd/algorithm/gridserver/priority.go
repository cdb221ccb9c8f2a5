package gridserver

// byPriority is an episode of mode priority: urgent sessions, then the others
// by usage or by age.
func (r *run) byPriority() {
	serve := r.byUsage
	urgent := r.urgentBand()
	r.greedy(r.queueOf(urgent), urgentPhase)
	switch {
	case r.SerialService && r.SerialPriority:
		serve = func(b ...band) { r.greedy(r.queueOf(b...), serialPhase) }
		r.downward(serve)
	case r.SerialService:
		r.greedy(r.queueOf(r.levels()...), serialPhase)
	case r.SerialPriority:
		r.ideals = make([]share, len(r.weights))
		r.downward(func(b ...band) {
			r.ideals[b[0]] = r.idealOfLevel(b[0])
			serve(b...)
		})
	default:
		r.ideals = r.idealOfAll()
		serve(r.levels()...)
	}
}

// levels are the bands of the levels that are not suspended.
func (r *run) levels() (out []band) {
	for i, w := range r.weights {
		if i > 0 && w.Sign() > 0 {
			out = append(out, band(i))
		}
	}
	return out
}

// downward serves one level after the other, the highest first.
func (r *run) downward(serve func(...band)) {
	levels := r.levels()
	for i := len(levels) - 1; i >= 0; i-- {
		serve(levels[i])
	}
}

// greedy lets each take all it can.
func (r *run) greedy(q *queue, p phase) {
	for i := 0; !r.full(); i++ {
		c := q.seen(i)
		if c == nil {
			return
		}
		for r.assignEngine(c, p) {
		}
	}
}

// byUsage serves sessions up to their ideal, then one engine each as long as
// there are any.
func (r *run) byUsage(bands ...band) {
	q := r.queueOf(bands...)
	for i := 0; !r.full(); i++ {
		c := q.seen(i)
		if c == nil {
			break
		}
		for c.engines() < r.ideals[c.band].idealOf(c.cap()) && r.assignEngine(c, idealPhase) {
		}
	}
	for again := true; again && !r.full(); {
		again = false
		q.compact()
		for i := 0; !r.full(); i++ {
			c := q.seen(i)
			if c == nil {
				break
			}
			again = r.assignEngine(c, roundRobinPhase) || again
		}
	}
}

// idealOfAll divides the engines that run no urgent session over all levels.
func (r *run) idealOfAll() []share {
	each := make([]caps, len(r.weights))
	for i := range each {
		each[i] = r.m.bands[i].caps
	}
	return shares(max(r.engines-r.running(r.urgentBand()), 0), r.weights, each, r.PriorityAggregation)
}

// idealOfLevel divides what is idle or runs in a level over its sessions.
func (r *run) idealOfLevel(b band) share {
	one, _ := newWeight("1")
	return shares(max(r.idle-len(r.assigned), 0)+r.running(b), []weight{one}, []caps{r.m.bands[b].caps}, false)[0]
}

// running is how many engines run sessions of a band, those of this run
// included.
func (r *run) running(b band) int {
	n := r.m.bands[b].running
	for _, a := range r.assigned {
		if a.to.band == b {
			n++
		}
	}
	return n
}
