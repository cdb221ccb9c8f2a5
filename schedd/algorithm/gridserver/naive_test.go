package gridserver

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"github.com/quill-grid/quill/orders"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/testkit"
)

// TestPlainly decides on random cells and compares with what the rules say
// when they are followed to the letter: all sessions in one list, sorted,
// fractions exact, every engine tried for every task.
func TestPlainly(t *testing.T) {
	testkit.EachSeed(t, 400, func(t *testing.T, seed uint64) {
		plainly(t, rand.New(rand.NewPCG(seed, 4)))
	})
}

func plainly(t *testing.T, r *rand.Rand) {
	conf := grid.SchedConf{Algorithm: Name, LoadFormula: "slots"}
	section := grid.Section{Algorithm: Name}
	param := func(name, text string) { section.Params = append(section.Params, grid.Param{Name: name, Text: text}) }
	sla := r.IntN(3) == 0
	if sla {
		param("mode", "sla")
		param("sla_groups", [...]string{"a=1,b=2,c=4", "a=0.25,b=0.3,c=0.1", "a=7,b=5,c=3"}[r.IntN(3)])
	} else {
		param("serial_service", strconv.FormatBool(r.IntN(4) == 0))
		param("serial_priority", strconv.FormatBool(r.IntN(3) == 0))
		param("priority_aggregation", strconv.FormatBool(r.IntN(3) == 0))
		param("priority_weights", [...]string{"none", "0,0.5,1.25,3,0,7"}[r.IntN(2)])
	}
	conf.Sections = []grid.Section{section}

	engines := make([]caseEngine, 1+r.IntN(14))
	sessions := make([]caseSession, 1+r.IntN(12))
	for i := range sessions {
		s := &sessions[i]
		s.ID, s.Priority = fmt.Sprintf("s%d", i), strconv.Itoa(r.IntN(7))
		if r.IntN(8) == 0 {
			s.Priority = "urgent"
		}
		s.Group = &[]string{"a", "b", "c"}[r.IntN(3)]
		s.Pending, s.Usage = uint32(r.IntN(5)), int64(r.IntN(4))*1000
		created := int64(r.IntN(5))
		s.Created = &created
		if r.IntN(4) == 0 {
			s.MaxEngines = uint32(1 + r.IntN(3))
		}
	}
	for i := range engines {
		engines[i].ID = fmt.Sprintf("e%d", i)
		if r.IntN(3) == 0 {
			engines[i].Running = &struct {
				Session string `yaml:"session"`
				Started int64  `yaml:"started_ms"`
			}{sessions[r.IntN(len(sessions))].ID, int64(r.IntN(5))}
		}
	}
	for i := range sessions {
		if r.IntN(3) == 0 {
			for _, e := range engines {
				if r.IntN(3) > 0 {
					sessions[i].OnlyEngines = append(sessions[i].OnlyEngines, e.ID)
				}
			}
		}
	}
	c := newCaseCell(conf, 1000, engines, sessions)
	run, list := c.decide(t)
	var got []caseAssign
	for _, o := range list {
		if s, ok := o.(*orders.StartJob); ok {
			got = append(got, caseAssign{c.engineOf(s.Grants[0].Host), c.names[s.Job], string(run.assigned[len(got)].phase)})
		}
	}
	want := newPlain(run.Config, engines, sessions).episode()
	if !slices.Equal(got, want) {
		t.Errorf("%v\nengines %+v\nsessions %+v\ngot  %v\nwant %v", section.Params, engines, sessions, got, want)
	}
}

// plain is an episode to the letter.
type plain struct {
	*Config
	engines  []caseEngine
	sessions []*plainSession
	busy     map[string]bool
	out      []caseAssign
}

type plainSession struct {
	*caseSession
	level, group   int
	urgent         bool
	running, taken int
	norm           *big.Rat
}

func newPlain(conf *Config, engines []caseEngine, sessions []caseSession) *plain {
	p := &plain{Config: conf, engines: engines, busy: map[string]bool{}}
	for i := range sessions {
		s := &plainSession{caseSession: &sessions[i]}
		s.level, _ = strconv.Atoi(s.Priority)
		if s.urgent = s.Priority == "urgent"; s.urgent {
			s.level = 9
		}
		s.group = slices.IndexFunc(conf.SLAGroups, func(v grid.Value) bool { return v.Name == *s.Group })
		for _, e := range engines {
			if e.Running != nil && e.Running.Session == s.ID {
				s.running++
				p.busy[e.ID] = true
			}
		}
		p.sessions = append(p.sessions, s)
	}
	return p
}

func (s *plainSession) cap() int {
	n := int(s.Pending) + s.running
	if s.MaxEngines > 0 {
		n = min(n, int(s.MaxEngines))
	}
	return n
}

func (s *plainSession) older(o *plainSession) bool {
	return *s.Created < *o.Created || *s.Created == *o.Created && s.ID < o.ID
}

// takeEngine takes one engine, the first that is allowed; false when there is none.
func (p *plain) takeEngine(s *plainSession, ph phase) bool {
	if s.taken == int(s.Pending) || s.MaxEngines > 0 && s.running+s.taken >= int(s.MaxEngines) {
		return false
	}
	for _, e := range p.engines {
		if !p.busy[e.ID] && (len(s.OnlyEngines) == 0 || slices.Contains(s.OnlyEngines, e.ID)) {
			p.busy[e.ID] = true
			s.taken++
			p.out = append(p.out, caseAssign{e.ID, s.ID, string(ph)})
			return true
		}
	}
	return false
}

// of are the active sessions that f accepts, in order of usage or age.
func (p *plain) of(f func(*plainSession) bool, byAge bool) (out []*plainSession) {
	for _, s := range p.sessions {
		if int(s.Pending)+s.running > 0 && f(s) {
			out = append(out, s)
		}
	}
	for _, s := range out {
		s.norm = new(big.Rat)
		if byAge {
			continue
		}
		key, sharers := s.level, int64(1)
		if p.sla() {
			key = s.group
		}
		if p.sla() || p.PriorityAggregation {
			sharers = 0
			for _, o := range p.sessions {
				same := o.level == s.level && !o.urgent
				if p.sla() {
					same = o.group == s.group && (o.level > 0)
				}
				if same && int(o.Pending)+o.running > 0 {
					sharers++
				}
			}
		}
		s.norm.Quo(big.NewRat(s.Usage*sharers, 1), p.weights[key].Rat)
	}
	slices.SortFunc(out, func(a, b *plainSession) int {
		if c := a.norm.Cmp(b.norm); c != 0 {
			return c
		}
		if a.older(b) {
			return -1
		}
		return 1
	})
	return out
}

func (p *plain) episode() []caseAssign {
	if p.sla() {
		p.slaEpisode()
		return p.out
	}
	for _, s := range p.of(func(s *plainSession) bool { return s.urgent }, true) {
		for p.takeEngine(s, urgentPhase) {
		}
	}
	usual := func(s *plainSession) bool { return !s.urgent && s.level > 0 && p.weights[s.level].Sign() > 0 }
	if !p.SerialPriority {
		p.serve(p.of(usual, p.SerialService), -1)
		return p.out
	}
	for level := len(p.weights) - 1; level > 0; level-- {
		p.serve(p.of(func(s *plainSession) bool { return usual(s) && s.level == level }, p.SerialService), level)
	}
	return p.out
}

func (p *plain) serve(order []*plainSession, level int) {
	if p.SerialService {
		for _, s := range order {
			for p.takeEngine(s, serialPhase) {
			}
		}
		return
	}
	ideal := p.ideals(order, level)
	for _, s := range order {
		for s.running+s.taken < ceil(ideal[s]) && p.takeEngine(s, idealPhase) {
		}
	}
	for again := true; again; {
		again = false
		for _, s := range order {
			again = p.takeEngine(s, roundRobinPhase) || again
		}
	}
}

// ideals divides by the rule: whoever can use less than its share gets that
// and is taken out, until none is.
func (p *plain) ideals(order []*plainSession, level int) map[*plainSession]*big.Rat {
	engines := 0
	for _, e := range p.engines {
		if level >= 0 && !p.busy[e.ID] {
			engines++
		} else if level < 0 {
			engines++
		}
	}
	out, weights := map[*plainSession]*big.Rat{}, map[*plainSession]*big.Rat{}
	levels := map[int][]*plainSession{}
	for _, s := range p.sessions {
		if level < 0 && s.urgent {
			engines -= s.running + s.taken
		}
	}
	for _, s := range order {
		if level >= 0 {
			engines += s.running
			weights[s] = big.NewRat(1, 1)
		} else {
			weights[s] = p.weights[s.level].Rat
		}
		levels[s.level] = append(levels[s.level], s)
	}
	if level >= 0 || !p.PriorityAggregation {
		split(big.NewRat(int64(engines), 1), order, weights, (*plainSession).cap, out)
		return out
	}
	var heads []*plainSession
	of, sums := map[*plainSession]*big.Rat{}, map[*plainSession]int{}
	for _, group := range levels {
		heads = append(heads, group[0])
		for _, s := range group {
			sums[group[0]] += s.cap()
		}
	}
	split(big.NewRat(int64(engines), 1), heads, weights, func(s *plainSession) int { return sums[s] }, of)
	for _, h := range heads {
		group := levels[h.level]
		equal := map[*plainSession]*big.Rat{}
		for _, s := range group {
			equal[s] = big.NewRat(1, 1)
		}
		split(of[h], group, equal, (*plainSession).cap, out)
	}
	return out
}

func split(
	engines *big.Rat, sessions []*plainSession, weights map[*plainSession]*big.Rat, cap func(*plainSession) int,
	out map[*plainSession]*big.Rat,
) {
	left, open := new(big.Rat).Set(engines), slices.Clone(sessions)
	for {
		total := new(big.Rat)
		for _, s := range open {
			total.Add(total, weights[s])
		}
		var still []*plainSession
		fixed := new(big.Rat)
		for _, s := range open {
			share := new(big.Rat).Mul(left, weights[s])
			share.Quo(share, total)
			most := big.NewRat(int64(cap(s)), 1)
			if most.Cmp(share) < 0 {
				out[s] = most
				fixed.Add(fixed, most)
				continue
			}
			out[s] = share
			still = append(still, s)
		}
		if len(still) == len(open) || len(still) == 0 {
			return
		}
		left.Sub(left, fixed)
		open = still
	}
}

func (p *plain) slaEpisode() {
	order := p.of(func(s *plainSession) bool { return s.group >= 0 && s.level > 0 }, false)
	demand, count := make([]int, len(p.weights)), make([]int, len(p.weights))
	for _, s := range order {
		demand[s.group] += s.cap()
		count[s.group] += s.running
	}
	q := newQuota(len(p.engines), p.weights, demand)
	round := func(ph phase, most func(g int) int) {
		for again := true; again; {
			again = false
			for _, s := range order {
				if count[s.group] < most(s.group) && p.takeEngine(s, ph) {
					count[s.group]++
					again = true
				}
			}
		}
	}
	if q.enough {
		round(slaPhase, func(g int) int { return q.need[g] })
		round(remainderPhase, func(g int) int { return q.need[g] + q.extra[g] })
	} else {
		round(sharePhase, func(g int) int { return q.share[g] })
	}
	round(remainderPhase, func(int) int { return 1 << 30 })
}
