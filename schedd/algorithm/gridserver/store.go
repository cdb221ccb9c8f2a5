package gridserver

import (
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"github.com/quill-grid/quill/orders"
	"github.com/quill-grid/quill/pkg/grid"
)

// statesTogether is how many objects an order stores at most, unless more belong
// together.
const statesTogether = 500

// storeStates orders qmaster to store what later runs need, and to remove the rest.
func (r *run) storeStates() {
	var order orders.StoreState
	together := func(states ...grid.AlgorithmState) {
		if order.States = append(order.States, states...); len(order.States) >= statesTogether {
			r.Yield(&orders.StoreState{States: order.States})
			order.States = nil
		}
	}
	keep := func(name string, values grid.Values) { together(state(name, values)) }
	r.m.orphans.Scan(func(name string, _ bool) bool {
		if r.expired(name) {
			keep(name, nil)
		}
		return true
	})
	r.keepRates(keep)
	var begun []beginning
	r.m.eachBegan("", func(b beginning) { begun = append(begun, b) })
	r.keepAffinity(begun, keep)
	r.keepUse(begun, together)
	r.m.turning.Scan(func(id uint32, _ bool) bool {
		if s, _ := r.m.sessions.Get(id); s.urgent {
			keep(urgentName(id), grid.Values{{Name: "at", Text: number(r.Now)}})
		} else {
			keep(urgentName(id), nil)
		}
		return true
	})
	if len(order.States) > 0 {
		r.Yield(&order)
	}
}

// expired reports whether an object that belongs to no job can go: affinity to a
// key stays for a window, for jobs to come.
func (r *run) expired(name string) bool {
	o := r.m.stored(name)
	if o == nil {
		return false
	}
	text, keyed := o.Values.Get(lastUse)
	at, _ := strconv.ParseInt(text, 10, 64)
	return !keyed || r.Now-grid.Time(at) > r.window()
}

// freshly is what the rates of new sessions depend on: the band, and whether
// they count as active already.
type freshly struct {
	band   band
	active bool
}

// newRate is the rate of a session that is seen for the first time.
func (r *run) newRate(s *session) *rate {
	key := freshly{s.band, s.active()}
	if r.fresh[key] == nil {
		active := make([]int, len(r.m.bands))
		for i := range active {
			active[i] = r.m.bands[i].active
		}
		if s.band >= 0 && !key.active {
			active[s.band]++
		}
		x := new(rate)
		switch {
		case s.band < 0:
			x.value.Rat = new(big.Rat)
		case s.band == r.urgentBand():
			x.value.Rat, x.urgent = new(big.Rat).SetInt64(int64(r.engines)), true
		default:
			x.value.Rat = initialRate(r.engines, r.weights, active, s.band, r.sla() || r.PriorityAggregation)
		}
		x.value.near, _ = x.value.Float64()
		if x.text = x.value.RatString(); x.urgent {
			x.text += " urgent"
		}
		r.fresh[key] = x
	}
	return r.fresh[key]
}

// initialRate is the part of the engines that a session of a band has when all
// that are active have their shares, not rounded: each has its weight, or the
// sessions of a band share it.
func initialRate(engines int, weights []weight, active []int, b band, shared bool) *big.Rat {
	total := new(big.Rat)
	for i, w := range weights {
		n := int64(active[i])
		if shared {
			n = min(n, 1)
		}
		total.Add(total, new(big.Rat).Mul(w.Rat, new(big.Rat).SetInt64(n)))
	}
	x := new(big.Rat).SetInt64(int64(engines))
	x.Quo(x.Mul(x, weights[b].Rat), total)
	if shared {
		x.Quo(x, new(big.Rat).SetInt64(int64(active[b])))
	}
	return x
}

// keepRates stores the rates of all new sessions.
func (r *run) keepRates(keep func(string, grid.Values)) {
	const most = 1000 // ranges in an object
	type kept struct {
		rate *rate
		jobs grid.Ranges
	}
	var rows []kept
	first, ranges := uint32(0), 0
	flush := func() {
		if first == 0 {
			return
		}
		var values grid.Values
		for _, k := range rows {
			values = append(values, grid.Value{Name: k.rate.text, Text: k.jobs.String()})
		}
		keep(fmt.Sprintf("%s%d", rates, first), values)
		rows, first, ranges = nil, 0, 0
	}
	r.m.news.Scan(func(id uint32, _ bool) bool {
		s, _ := r.m.sessions.Get(id)
		x := r.newRate(s)
		i := slices.IndexFunc(rows, func(k kept) bool { return k.rate.text == x.text })
		if i < 0 {
			i = len(rows)
			rows = append(rows, kept{rate: x})
		}
		if first == 0 {
			first = id
		}
		if jobs := rows[i].jobs; len(jobs) > 0 && jobs[len(jobs)-1].Last+1 == id {
			jobs[len(jobs)-1].Last = id
		} else {
			rows[i].jobs = append(jobs, grid.Range{First: id, Last: id, Step: 1})
			ranges++
		}
		if ranges >= most {
			flush()
		}
		return true
	})
	flush()
}

// keepUse stores the past and present number of engines of sessions, where that is stored
// and has changed, and removes the began/ objects that are now counted.
func (r *run) keepUse(begun []beginning, together func(...grid.AlgorithmState)) {
	changed := map[uint32][]beginning{}
	r.m.unsettled.Scan(func(id uint32, _ bool) bool {
		changed[id] = nil
		return true
	})
	for _, b := range begun {
		changed[b.job] = append(changed[b.job], b)
	}
	for _, id := range slices.Sorted(maps.Keys(changed)) {
		var states []grid.AlgorithmState
		if s, _ := r.m.sessions.Get(id); s != nil && s.kept {
			states = r.steps(s, changed[id])
		}
		for _, b := range changed[id] {
			states = append(states, state(b.name, nil))
		}
		together(states...)
	}
}

// steps adds to the last object of a session's history what has begun and what
// it has now, or begins a new one, and forgets those that the window has left
// after.
func (r *run) steps(s *session, begun []beginning) (states []grid.AlgorithmState) {
	var chunks []*grid.AlgorithmState
	r.m.eachStored(fmt.Sprintf("%s%d/", used, s.id), func(o *grid.AlgorithmState) { chunks = append(chunks, o) })
	next := 1
	var values grid.Values
	if n := len(chunks); n > 0 {
		last := chunks[n-1]
		next, _ = strconv.Atoi(last.Name[strings.LastIndexByte(last.Name, '/')+1:])
		if values = slices.Clip(last.Values); len(values) >= stepsTogether {
			next, values = next+1, nil
		}
	}
	step := func(at grid.Time, engines int64) {
		if n := len(values); n > 0 && values[n-1].Name == number(at) {
			values = values[: n-1 : n-1]
		}
		values = append(values, grid.Value{Name: number(at), Text: strconv.FormatInt(engines, 10)})
	}
	if len(chunks) == 0 && len(begun) == 0 { // until now it was computed from its task
		for _, was := range s.history {
			step(was.at, was.engines)
		}
	}
	for i, b := range begun {
		step(b.at, s.history.engines()-int64(len(begun)-1-i))
	}
	if s.unsettled() {
		step(max(r.Now, s.lastStep()), int64(s.running))
	}
	states = append(states, state(usedName(s.id, next), values))
	for i := 0; i+1 < len(chunks); i++ {
		if first, _ := strconv.ParseInt(chunks[i+1].Values[0].Name, 10, 64); grid.Time(first) > r.Now-r.window() {
			break
		}
		states = append(states, state(chunks[i].Name, nil))
	}
	return states
}

func (s *session) lastStep() grid.Time {
	if s.fresh() {
		return 0
	}
	return s.history[len(s.history)-1].at
}

// keepAffinity stores where tasks have run: for arrays, jobs of a key, and plain jobs
// that lost their engine. Unknown hosts are removed: they join anew.
func (r *run) keepAffinity(begun []beginning, keep func(string, grid.Values)) {
	changed := map[string]grid.Values{}
	var names []string
	change := func(name string, f func(grid.Values) grid.Values) {
		values, again := changed[name]
		if !again {
			if o := r.m.stored(name); o != nil {
				values = o.Values
			}
			names = append(names, name)
		}
		changed[name] = f(values)
	}
	for _, b := range begun {
		if !strings.HasPrefix(b.of, ofJob) || r.m.State.Job(b.job) != nil {
			change(b.of, func(v grid.Values) grid.Values { return withScore(v, b.host) })
		}
	}
	for _, v := range r.victims {
		change(affinityName(v.session), func(a grid.Values) grid.Values { return withScore(a, v.task.Grants[0].Host) })
	}
	if r.m.silent.Len() > 0 {
		r.m.eachStored(affinity, func(o *grid.AlgorithmState) {
			if !slices.ContainsFunc(o.Values, r.gone) {
				return
			}
			change(o.Name, func(v grid.Values) grid.Values { return slices.DeleteFunc(slices.Clone(v), r.gone) })
		})
	}
	slices.Sort(names)
	for _, name := range names {
		values := changed[name]
		if len(name) > len(ofKey) && name[:len(ofKey)] == ofKey {
			values = r.used(values)
		}
		if o := r.m.stored(name); o == nil && len(values) == 0 || o != nil && slices.Equal(o.Values, values) {
			continue
		}
		keep(name, values)
	}
}

// gone reports whether the score belongs to an unknown host.
func (r *run) gone(v grid.Value) bool {
	_, silent := r.m.silent.Get(v.Name)
	return silent
}

// used notes that a key was used now, unless that is known from not long ago.
func (r *run) used(values grid.Values) grid.Values {
	text, _ := values.Get(lastUse)
	if at, _ := strconv.ParseInt(text, 10, 64); r.Now-grid.Time(at) < r.window()/2 {
		return values
	}
	values = slices.DeleteFunc(slices.Clone(values), func(v grid.Value) bool { return v.Name == lastUse })
	return slices.Insert(values, 0, grid.Value{Name: lastUse, Text: number(r.Now)})
}
