package mirror

import (
	"cmp"
	"context"
	"iter"
	"slices"
	"sort"
	"sync"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/history"
	"github.com/quill-grid/quill/pkg/state"
	"github.com/quill-grid/quill/tools/jobstory"
)

const (
	// StretchEvents is after how many events a stretch ends, stretchBytes after how many bytes, compressed.
	StretchEvents = 62_500
	StretchBytes  = 4 << 20
	// StretchesMost stretches are two million events: the last million may be looked at, and the jobs in it were submitted
	// before.
	StretchesMost = 32
)

// Recent follows a mirror with the last event lists as the mirror got them, and finds those about a job: its story
// costs what happened to it.
type Recent struct {
	every int // events of a stretch; set by NewRecent

	mu sync.Mutex
	// stretches are without gaps, the oldest first. Add lets the last one grow, Prepend puts others before. The lists of
	// a stretch that is not the last never change. None: a list was missed, or there was no full state.
	stretches []*stretch
	frame     *state.State // of history.IsFrame kinds, after the last list; written by BeginAfter and Add
	next      uint64       // the list that is expected: the last one + 1; written likewise
}

// stretch is consecutive lists. Only its add and sortMentions write it, before the next stretch begins.
type stretch struct {
	head                  // before its lists
	frame    *state.State // of history.IsFrame kinds, at head; never changes
	lists    pile
	spots    []spot    // of lists, one for each
	rest     pile      // the events of history.IsFrame kinds of the lists that have such
	mentions []mention // in the order of the lists; after sortMentions by job, then list
	sorted   bool      // sortMentions was called: nothing is added any more
	events   int       // in lists
}

// mention is a list that has events of a job.
type mention struct {
	job  uint32
	list uint32 // its place in spots
	what mentionFlags
}

type mentionFlags uint8

const (
	hasSubmit mentionFlags = 1 << iota
	hasEnd
)

// NewRecent returns a Recent without lists, which ends a stretch after so many events.
func NewRecent(every int) *Recent { return &Recent{every: every} }

// Restart is called after a full state: lists may have been missed.
func (r *Recent) Restart(s *state.State) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.next == s.Seq+1 && len(r.stretches) > 0 {
		return
	}
	r.BeginAfter(s)
}

// BeginAfter forgets all and begins after a state.
func (r *Recent) BeginAfter(s *state.State) {
	r.frame = state.New()
	all := events.List{Seq: s.Seq, At: s.At}
	for i := range grid.Kinds {
		if k := grid.Kinds[i].Kind; history.IsFrame(k) {
			s.Each(k, func(o grid.Object) bool {
				all.Events = append(all.Events, events.Listed(grid.Public(o))) // the log may have more than the mirror
				return true
			})
		}
	}
	r.frame.Apply(all)
	r.stretches, r.next = []*stretch{r.newStretch()}, s.Seq+1
}

// newStretch returns a stretch for the lists that come.
func (r *Recent) newStretch() *stretch {
	return &stretch{head: head{r.frame.Seq, r.frame.At}, frame: r.frame.Copy()}
}

// Follow takes the next list.
func (r *Recent) Follow(u *Update) { r.Add(u.List) }

// Add takes the next list.
func (r *Recent) Add(l events.List) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.stretches) == 0 || l.Seq != r.next {
		r.stretches = nil // until the next full state
		return
	}
	r.next++
	s := r.stretches[len(r.stretches)-1]
	if s.events >= r.every || s.lists.size+s.rest.size >= StretchBytes {
		s.sortMentions()
		s = r.newStretch()
		r.stretches = append(r.stretches, s)
		r.stretches = slices.Clone(r.stretches[max(0, len(r.stretches)-StretchesMost):])
	}
	s.add(l)
	of := selectEvents(l, func(e *events.Event) bool { return history.IsFrame(e.Kind) })
	r.frame.Apply(of)
	if len(of.Events) > 0 {
		s.rest.add(of)
	}
}

func (s *stretch) add(l events.List) {
	n := uint32(len(s.spots))
	s.spots = append(s.spots, s.lists.add(l))
	s.events += len(l.Events)
	for i := range l.Events {
		e := &l.Events[i]
		job := history.JobOf(e)
		if job == 0 {
			continue
		}
		last := len(s.mentions) - 1 // the events of a job stand together in most lists
		if last < 0 || s.mentions[last].job != job || s.mentions[last].list != n {
			s.mentions = append(s.mentions, mention{job: job, list: n})
			last++
		}
		if e.Kind == grid.KindJob && e.Op == events.OpAdd {
			s.mentions[last].what |= hasSubmit
		}
		if e.Kind == grid.KindAccounting {
			s.mentions[last].what |= hasEnd
		}
	}
}

// selectEvents returns a list with the events that a test chooses.
func selectEvents(l events.List, chosen func(*events.Event) bool) events.List {
	all := l.Events
	l.Events = nil
	for i := range all {
		if chosen(&all[i]) {
			l.Events = append(l.Events, all[i])
		}
	}
	return l
}

// sortMentions makes mentions quick to find. The slice is another one: others may read what was there.
func (s *stretch) sortMentions() {
	s.mentions = slices.Clone(s.mentions)
	slices.SortFunc(s.mentions, func(a, b mention) int {
		return cmp.Or(cmp.Compare(a.job, b.job), cmp.Compare(a.list, b.list))
	})
	s.sorted = true
}

// mentionsOf returns the mentions of a job, by list.
func (s *stretch) mentionsOf(job uint32) (out []mention) {
	all := s.mentions
	if s.sorted {
		begin := sort.Search(len(all), func(i int) bool { return all[i].job >= job })
		all = all[begin:]
	}
	for _, m := range all {
		switch n := len(out); {
		case m.job != job && s.sorted:
			return out
		case m.job != job:
		case n > 0 && out[n-1].list == m.list:
			out[n-1].what |= m.what
		default:
			out = append(out, m)
		}
	}
	return out
}

// last returns the Seq of the last list.
func (s *stretch) last() uint64 { return s.seq + uint64(len(s.spots)) }

// Prepend takes the lists before those that it has.
func (r *Recent) Prepend(before *Recent) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.stretches) == 0 || len(before.stretches) == 0 || before.next != r.stretches[0].seq+1 {
		return
	}
	before.stretches[len(before.stretches)-1].sortMentions()
	all := slices.Concat(before.stretches, r.stretches)
	r.stretches = slices.Clone(all[max(0, len(all)-StretchesMost):]) // those before are not held
}

// snapshot returns the stretches as they are now, for reading without the lock.
func (r *Recent) snapshot() []stretch {
	r.mu.Lock()
	defer r.mu.Unlock()
	out := make([]stretch, len(r.stretches))
	for i, s := range r.stretches {
		out[i] = *s
	}
	return out
}

// Begin returns the list after which the kept ones begin, and in how many stretches they are; ok is false without any.
func (r *Recent) Begin() (seq uint64, stretches int, ok bool) {
	all := r.snapshot()
	if len(all) == 0 {
		return 0, 0, false
	}
	return all[0].seq, len(all), true
}

// Forward brings a state to a later place. It reports whether recent has the lists up to it.
func (r *Recent) Forward(ctx context.Context, st *state.State, to gdi.Place) (bool, error) {
	all := r.snapshot()
	if len(all) == 0 || st.Seq < all[0].seq {
		return false, nil
	}
	last := all[len(all)-1].last()
	if to.Seq > last {
		return false, nil
	}
	for i := range all {
		s := &all[i]
		if s.last() <= st.Seq {
			continue
		}
		more := true
		err := (&pileReader{pile: s.lists}).eachFrom(int(s.spots[st.Seq-s.seq].block), func(l events.List) bool {
			switch {
			case to.Seq != 0 && l.Seq > to.Seq, to.Seq == 0 && l.At > to.At, ctx.Err() != nil:
				more = false
			case l.Seq > st.Seq:
				st.Apply(l)
			}
			return more
		})
		if err = cmp.Or(err, ctx.Err()); err != nil || !more {
			return true, err
		}
	}
	return to.Seq != 0, nil // a later list may be of the time, too
}

// Backward calls each with the lists that are not after one, the last one first, until it returns false. It returns the
// list that comes next.
func (r *Recent) Backward(from uint64, each func(events.List) bool) (next uint64, err error) {
	next = from
	all := r.snapshot()
	for i := range slices.Backward(all) {
		s := &all[i]
		if next > s.last() {
			return next, nil // it has not come yet
		}
		if next <= s.seq {
			continue
		}
		p := &pileReader{pile: s.lists}
		for block := int(s.spots[next-s.seq-1].block); block >= 0; block-- {
			lists, err := p.listsOf(block)
			if err != nil {
				return next, err
			}
			for _, l := range slices.Backward(lists) {
				if l.Seq > next {
					continue
				}
				if next = l.Seq - 1; !each(l) {
					return next, nil
				}
			}
		}
	}
	return next, nil
}

// Life is what recent has of a job from its submission on.
type Life struct {
	job       uint32
	to        uint64 // the last list that counts
	stretches []stretch
	first     mention // its submission, in stretches[0]
	Read      int     // lists that were decoded
}

// Life returns the last job of a number that was submitted not after a list; nil: that was before what is kept.
func (r *Recent) Life(job uint32, to uint64) *Life {
	all := r.snapshot()
	for i := range slices.Backward(all) {
		s := &all[i]
		for _, m := range slices.Backward(s.mentionsOf(job)) {
			if m.what&hasSubmit != 0 && s.seq+1+uint64(m.list) <= to {
				return &Life{job: job, to: to, stretches: all[i:], first: m}
			}
		}
	}
	return nil
}

// beginState returns the place before the submission, and a state of what frames has there.
func (l *Life) beginState() (history.Mark, *state.State, error) {
	s := &l.stretches[0]
	st, end := s.frame.Copy(), s.seq+uint64(l.first.list)
	r := &pileReader{pile: s.rest}
	err := r.eachFrom(0, func(l events.List) bool {
		if l.Seq <= end {
			st.Apply(l)
		}
		return l.Seq < end
	})
	st.Seq = end
	return history.Mark{Seq: end, At: st.At}, st, err
}

// Lists returns the lists about the job, and those with what frames has, with the events that are about either.
func (l *Life) Lists() iter.Seq2[events.List, error] {
	chosen := func(e *events.Event) bool { return history.JobOf(e) == l.job || history.IsFrame(e.Kind) }
	return func(yield func(events.List, error) bool) {
		last, release := head{}, grid.Time(0)
		give := func(list events.List) bool {
			if release > last.at && release <= list.At && last.seq > 0 { // the first list after it ends the wait
				if h, ok := l.firstNotBefore(release); ok && h.seq > last.seq && h.seq < list.Seq &&
					!yield(events.List{Seq: h.seq, At: h.at}, nil) {
					return false
				}
			}
			for _, e := range list.Events {
				if j, is := e.Object.(*grid.Job); is && j.ID == l.job {
					release = j.ExecTime
				}
			}
			last = head{list.Seq, list.At}
			return yield(list, nil)
		}
		for i := range l.stretches {
			if s := &l.stretches[i]; s.seq < l.to {
				if more, err := l.giveStretch(s, i == 0, chosen, give); err != nil || !more {
					if err != nil {
						yield(events.List{}, err)
					}
					return
				}
			}
		}
		if release > last.at {
			if h, ok := l.firstNotBefore(release); ok && h.seq <= l.to {
				yield(events.List{Seq: h.seq, At: h.at}, nil)
			}
		}
	}
}

// giveStretch calls give with the lists of one stretch.
func (l *Life) giveStretch(
	s *stretch, first bool, chosen func(*events.Event) bool, give func(events.List) bool,
) (more bool, err error) {
	mine := s.mentionsOf(l.job)
	after := s.seq
	if first {
		mine = mine[slices.IndexFunc(mine, func(m mention) bool { return m.list == l.first.list }):]
		after += uint64(l.first.list)
	}
	own := &pileReader{pile: s.lists}
	defer func() { l.Read += own.read }()
	// next gives the job's own lists before one.
	next := func(before uint64) bool {
		for len(mine) > 0 && more && s.seq+1+uint64(mine[0].list) < before {
			var list events.List
			if list, err = own.listAt(s.spots[mine[0].list]); err != nil {
				return false
			}
			mine, after = mine[1:], list.Seq
			more = list.Seq <= l.to && give(selectEvents(list, chosen))
		}
		return more
	}
	more = true
	rest := &pileReader{pile: s.rest}
	bad := rest.eachFrom(rest.lastBlockBefore(func(h head) bool { return h.seq > after }), func(list events.List) bool {
		switch {
		case list.Seq > l.to:
			return false
		case !next(list.Seq):
			return false
		case len(mine) > 0 && s.seq+1+uint64(mine[0].list) == list.Seq: // it is about both
			return next(list.Seq + 1)
		case list.Seq > after:
			more = give(list)
		}
		return more
	})
	l.Read += rest.read
	if err = cmp.Or(err, bad); err == nil && more {
		next(l.to + 1)
	}
	return more, err
}

// firstNotBefore returns the first list that is not before a time.
func (l *Life) firstNotBefore(t grid.Time) (found head, ok bool) {
	for i := range l.stretches {
		s := &l.stretches[i]
		if i+1 < len(l.stretches) && l.stretches[i+1].at < t {
			continue
		}
		r := &pileReader{pile: s.lists}
		err := r.eachFrom(r.lastBlockBefore(func(h head) bool { return h.at >= t }), func(list events.List) bool {
			found, ok = head{list.Seq, list.At}, list.At >= t
			return !ok
		})
		if l.Read += r.read; ok || err != nil {
			return found, ok
		}
	}
	return found, false
}

// Records returns the accounting records of the job, the oldest first.
func (l *Life) Records() (out []Record, err error) {
	for i := range l.stretches {
		s := &l.stretches[i]
		r := &pileReader{pile: s.lists}
		for _, m := range s.mentionsOf(l.job) {
			seq := s.seq + 1 + uint64(m.list)
			if m.what&hasEnd == 0 || seq > l.to || i == 0 && m.list < l.first.list {
				continue
			}
			list, err := r.listAt(s.spots[m.list])
			if err != nil {
				return nil, err
			}
			for _, a := range AppendRecords(nil, list) {
				if a.Job == l.job {
					out = append(out, a)
				}
			}
		}
		l.Read += r.read
	}
	return out, nil
}

// Part returns what a story needs, without the cell's states.
func (l *Life) Part() (jobstory.Part, error) {
	first, st, err := l.beginState()
	return jobstory.Part{First: first, Begin: st, Lists: l.Lists()}, err
}
