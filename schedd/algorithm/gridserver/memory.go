package gridserver

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/quill-grid/quill/pkg/grid"
)

// State of this algorithm that qmaster stores, by name and values:
//
//	rates/7            rate=jobs: the jobs that one run first saw, 7 the first of them
//	used/7/000001      milliseconds=engines: how many engines job 7 has had since, an
//	                   array or one that was preempted and stood still
//	affinity/job/7     host=score: where tasks of job 7 have run
//	affinity/key/K     ... of jobs with that affinity_key; @at: when last
//	urgent/7           at=milliseconds: when job 7 became urgent, if later than it came
//	began/job/7/5.7.1  host=h1: task 7.1 was started at 5 milliseconds by the last run
//	began/key/K/...    ... which has that affinity_key
//
// Each is removed when no job needs it any more. began/ objects are stored with their
// starts, so a refused start leaves none; the next run adds them to use and affinity.
const (
	rates    = "rates/"
	used     = "used/"
	affinity = "affinity/"
	ofJob    = affinity + "job/"
	ofKey    = affinity + "key/"
	urgent   = "urgent/"
	began    = "began/"
	lastUse  = "@at"
)

// stepsTogether is how many steps an object holds: what a change rewrites.
const stepsTogether = 64

func usedName(job uint32, chunk int) string { return fmt.Sprintf("%s%d/%06d", used, job, chunk) }

// stored returns the object of a name, nil when there is none.
func (m *Model) stored(name string) *grid.AlgorithmState {
	s, _ := m.State.Get(grid.KindAlgorithmState, grid.Key{Name: Name + "/" + name}).(*grid.AlgorithmState)
	return s
}

// eachStored calls f with the objects whose names begin so.
func (m *Model) eachStored(prefix string, f func(*grid.AlgorithmState)) {
	m.State.EachNamed(grid.KindAlgorithmState, Name+"/"+prefix, func(o grid.Object) { f(o.(*grid.AlgorithmState)) })
}

// readState applies an object that was stored or removed.
func (m *Model) readState(key string) {
	name, own := strings.CutPrefix(key, Name+"/")
	if !own {
		return
	}
	if b, ok := beginningOf(name); ok {
		m.index.touched.Add(b.job)
		return
	}
	s := m.stored(name)
	if s == nil {
		m.orphans.Delete(name)
	}
	id, ofJob := jobOf(name)
	switch {
	case ofJob:
		m.index.touched.Add(id)
		if strings.HasPrefix(name, used) {
			m.readUse(id, s)
		}
	case s == nil:
	case strings.HasPrefix(name, rates):
		m.readRates(s)
	case strings.HasPrefix(name, ofKey):
		m.adopt(name, m.index.keys[name[len(ofKey):]] > 0)
	}
}

// readUse adds what is new to the history of a job. If the oldest steps are
// forgotten, or one was said otherwise, the history begins anew.
func (m *Model) readUse(id uint32, s *grid.AlgorithmState) {
	if s != nil {
		if h, ok := m.index.histories[id].with(s); ok {
			m.index.histories[id] = h
			return
		}
	}
	delete(m.index.histories, id)
	m.eachStored(fmt.Sprintf("%s%d/", used, id), func(s *grid.AlgorithmState) {
		h := m.index.histories[id]
		for _, v := range s.Values {
			h = h.then(stepOf(v))
		}
		m.index.histories[id] = h
	})
}

// with returns the history extended by the new steps of a stored object. It returns false
// if the last step of both differs.
func (h history) with(s *grid.AlgorithmState) (history, bool) {
	last := grid.Time(0)
	if len(h) > 0 {
		last = h[len(h)-1].at
	}
	for _, v := range s.Values {
		switch at, n := stepOf(v); {
		case at > last:
			h = h.then(at, n)
		case at == last && h.engines() != n:
			return nil, false
		}
	}
	return h, true
}

// stepOf returns a stored step: since when, and how many engines.
func stepOf(v grid.Value) (grid.Time, int64) {
	at, _ := strconv.ParseInt(v.Name, 10, 64)
	n, _ := strconv.ParseInt(v.Text, 10, 64)
	return grid.Time(at), n
}

// jobOf is the job that an object is of.
func jobOf(name string) (id uint32, ok bool) {
	for _, prefix := range [...]string{used, ofJob, urgent} {
		if rest, is := strings.CutPrefix(name, prefix); is {
			text, _, _ := strings.Cut(rest, "/")
			n, err := strconv.ParseUint(text, 10, 32)
			return uint32(n), err == nil
		}
	}
	return 0, false
}

// adopt notes whether an object is still needed.
func (m *Model) adopt(name string, needed bool) {
	if needed {
		m.orphans.Delete(name)
	} else {
		m.orphans.Set(name, true)
	}
}

// readRates gives the jobs that one run first saw their rates.
func (m *Model) readRates(s *grid.AlgorithmState) {
	live := 0
	for _, v := range s.Values {
		text, was := strings.CutSuffix(v.Name, " urgent")
		w, ok := parseRate(text)
		if !ok {
			continue
		}
		r := &rate{text: v.Name, value: w, urgent: was, home: s.Name}
		parseRanges(v.Text).Each(func(id uint32) bool {
			if m.State.Job(id) != nil {
				m.index.rates[id] = r
				m.rated(id, r)
				live++
			}
			return true
		})
	}
	m.index.homes[s.Name] = live
	m.adopt(s.Name, live > 0)
}

// rated lets a session have its rate.
func (m *Model) rated(id uint32, r *rate) {
	old, _ := m.sessions.Get(id)
	if old == nil || old.urgent || m.index.touched.Has(id) {
		m.index.touched.Add(id)
		return
	}
	s := *old
	s.rate = r
	m.replace(id, &s)
}

func parseRate(text string) (weight, bool) {
	num, den, fraction := strings.Cut(text, "/")
	w, ok := newWeight(num)
	if fraction && ok {
		d, isNumber := newWeight(den)
		if ok = isNumber && d.Sign() > 0; ok {
			w.Quo(w.Rat, d.Rat)
			w.near, _ = w.Float64()
		}
	}
	return w, ok
}

// parseRanges reads what grid.Ranges prints.
func parseRanges(text string) (out grid.Ranges) {
	for part := range strings.SplitSeq(text, ",") {
		var r grid.Range
		if n, _ := fmt.Sscanf(part, "%d-%d:%d", &r.First, &r.Last, &r.Step); n == 1 {
			r.Last, r.Step = r.First, 1
		}
		out = append(out, r)
	}
	return out
}

// removeSession removes the data of a job that is gone.
func (m *Model) removeSession(id uint32) {
	if r := m.index.rates[id]; r != nil {
		delete(m.index.rates, id)
		m.index.homes[r.home]--
		m.adopt(r.home, m.index.homes[r.home] > 0)
	}
	delete(m.index.histories, id)
	number := strconv.FormatUint(uint64(id), 10)
	for _, prefix := range [...]string{used + number + "/", ofJob + number, urgent + number} {
		m.eachStored(prefix, func(s *grid.AlgorithmState) {
			if of, _ := jobOf(s.Name); of == id {
				m.adopt(s.Name, false)
			}
		})
	}
}

// historyOf returns the stored use of an array; for a plain job it is computed from its
// task, unless that was suspended.
func (m *Model) historyOf(j *grid.Job, s *session) (h history, kept bool) {
	if h, kept = m.index.histories[j.ID]; kept || j.Array {
		h = slices.Clip(h) // the index appends what is stored next
		m.eachBeganOf(s, func(b beginning) {
			if b.job == j.ID {
				h = h.then(b.at, h.engines()+1)
			}
		})
		return h, true
	}
	t := m.State.Task(j.ID, j.Tasks.First)
	if t == nil || t.Start == 0 {
		return nil, false
	}
	h = h.then(t.Start, 1)
	if !t.Started() {
		h = h.then(t.Start.Add(t.Previous.WallSeconds), 0)
	}
	return h, s.stopped > 0
}

// beginning is a start of the last run.
type beginning struct {
	name string
	of   string // the affinity that it adds to
	at   grid.Time
	job  uint32
	host string
}

// begins returns the object that is stored with the start of a session's task.
func begins(s *session, at grid.Time, task uint32, host string) grid.AlgorithmState {
	id := strconv.FormatUint(uint64(s.id), 10) + "." + strconv.FormatUint(uint64(task), 10)
	return state(began+affinityName(s)[len(affinity):]+"/"+number(at)+"."+id, grid.Values{{Name: "host", Text: host}})
}

func beginningOf(name string) (b beginning, ok bool) {
	of, is := strings.CutPrefix(name, began)
	i := strings.LastIndexByte(of, '/')
	if !is || i < 0 {
		return b, false
	}
	at, task, _ := strings.Cut(of[i+1:], ".")
	job, _, _ := strings.Cut(task, ".")
	ms, err := strconv.ParseInt(at, 10, 64)
	id, wrong := strconv.ParseUint(job, 10, 32)
	return beginning{name: name, of: affinity + of[:i], at: grid.Time(ms), job: uint32(id)}, err == nil && wrong == nil
}

// eachBegan calls f with the starts of the last run whose names begin so.
func (m *Model) eachBegan(prefix string, f func(beginning)) {
	m.eachStored(began+prefix, func(o *grid.AlgorithmState) {
		if b, ok := beginningOf(o.Name); ok {
			b.host, _ = o.Values.Get("host")
			f(b)
		}
	})
}

// eachBeganOf calls f with those that add to the affinity of a session, in the
// order of time.
func (m *Model) eachBeganOf(s *session, f func(beginning)) {
	of := affinityName(s)
	m.eachBegan(of[len(affinity):]+"/", func(b beginning) {
		if b.of == of {
			f(b)
		}
	})
}

// markUrgent says since when a session is urgent: since it came, unless it was
// not urgent then.
func (m *Model) markUrgent(s *session) {
	at, known := grid.Time(0), false
	if o := m.stored(urgentName(s.id)); o != nil {
		text, _ := o.Values.Get("at")
		n, _ := strconv.ParseInt(text, 10, 64)
		at, known = grid.Time(n), true
	}
	switch {
	case !s.urgent:
		s.turns = known
	case known:
		s.since = at
	case s.rate == nil || s.rate.urgent:
		s.since = s.created
	default:
		s.turns = true
	}
}

func urgentName(job uint32) string { return urgent + strconv.FormatUint(uint64(job), 10) }

// state returns an object to be stored; without values it is removed.
func state(name string, values grid.Values) grid.AlgorithmState {
	return grid.AlgorithmState{Algorithm: Name, Name: name, Values: values}
}

func number(t grid.Time) string { return strconv.FormatInt(int64(t), 10) }

// withScore is a list of scores with one more, by host name.
func withScore(scores grid.Values, host string) grid.Values {
	i, found := slices.BinarySearchFunc(scores, host, func(v grid.Value, h string) int {
		return strings.Compare(v.Name, h)
	})
	if found {
		return scores
	}
	return slices.Insert(slices.Clone(scores), i, grid.Value{Name: host, Text: "1"})
}
