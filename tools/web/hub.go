package web

import (
	"bytes"
	"encoding/json"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/events/filter"
	"github.com/quill-grid/quill/pkg/document"
	"github.com/quill-grid/quill/pkg/state"
)

// keptEvents and keptBytes bound the events that a hub keeps for readers that lag: what is older is cut off for them. The bytes are those of the
// events as the log has them; in memory, and printed for readers, they are some ten times as many.
const (
	keptEvents = 100_000
	keptBytes  = 16 << 20
)

// hub has the last event lists for all that read the stream. Each list is decoded and printed once for all readers.
type hub struct {
	keep int // events, at most

	mu           sync.Mutex
	lists        []*entry // without gaps
	first        uint64   // the Seq of lists[0], or of the next list
	events       int      // in lists
	bytes        int      // of them, as the log has them
	broken       int      // how often lists were missed: the mirror registered again
	stateReaders int      // readers that need the state before a list
	bells        [2]bell
	shared       []*batch // the last ones, the newest last
	taken        taken
}

// crowd is to which readers one belongs: the first readers of each user, and all others. The others do not make wake-ups of the first ones rarer.
type crowd int

const (
	few crowd = iota
	many
	fewMost = 32 // of one user
)

// bell wakes the readers of a crowd.
type bell struct {
	readers int
	wake    chan struct{}
	woken   time.Time   // the last time
	later   *time.Timer // wakes the readers of what came too soon after that; nil: not armed
}

// sharedMost is how many batches are kept: readers that are as far as each other take the same one at about the same time.
const sharedMost = 16

// batchKey is what a batch depends on: the lists after one up to another, the form, and the conditions of its readers.
type batchKey struct {
	after, last uint64
	form        form
	conditions  string
}

// batch is the text of several lists. It is made by the first reader that needs it, for all of them.
type batch struct {
	key   batchKey
	text  func() (text []byte, has bool) // has: the hub had the lists yet
	piece func() piece                   // the text compressed
}

// batch returns the batch for a key.
func (h *hub) batch(k batchKey, text func() ([]byte, bool)) *batch {
	h.mu.Lock()
	var one *batch
	for i := len(h.shared) - 1; i >= 0 && one == nil; i-- {
		if h.shared[i].key == k {
			one = h.shared[i]
		}
	}
	if one == nil {
		one = &batch{key: k, text: sync.OnceValues(text)}
		one.piece = sync.OnceValue(func() piece {
			text, _ := one.text()
			return compress(text)
		})
		if len(h.shared) == sharedMost {
			h.shared = append(h.shared[:0], h.shared[1:]...)
		}
		h.shared = append(h.shared, one)
	}
	h.mu.Unlock()
	return one
}

// pace is how much rarer each reader makes wake-ups. Waking one and sending to it takes some 70 microseconds of processor time while much
// happens: lists that come faster are sent together, and many readers cost 2 % of the processors, not all that there is.
// A list that comes alone is sent at once.
var pace = 4 * time.Millisecond / time.Duration(runtime.GOMAXPROCS(0))

// entry is a list in a hub.
type entry struct {
	list   events.List
	size   int          // bytes, as the log has it
	before *state.State // nil where no reader needs it

	print sync.Once
	all   []printed // the events of the list
	text  [2]struct {
		print sync.Once
		bytes []byte // all of them in this form
	}
}

// form is how the stream is written.
type form int

const (
	serverSent form = iota
	lines
)

// printed is an event as JSON.
type printed []byte

func newHub() *hub {
	return &hub{keep: keptEvents, bells: [2]bell{{wake: make(chan struct{})}, {wake: make(chan struct{})}}}
}

// add takes the next list, of so many bytes; before is the state before it, which may be read during the call only.
func (h *hub) add(l events.List, size int, before *state.State) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.lists) > 0 && l.Seq != h.first+uint64(len(h.lists)) || len(h.lists) == 0 && h.first != l.Seq {
		h.lists, h.first, h.events, h.bytes = nil, l.Seq, 0, 0
		h.broken++
	}
	e := &entry{list: l, size: size}
	if h.stateReaders > 0 {
		e.before = before.Copy()
	}
	h.lists = append(h.lists, e)
	h.events += len(l.Events)
	h.bytes += size
	drop := 0
	for (h.events > h.keep || h.bytes > keptBytes) && drop < len(h.lists)-1 {
		h.events -= len(h.lists[drop].list.Events)
		h.bytes -= h.lists[drop].size
		h.lists[drop] = nil
		drop++
	}
	h.lists, h.first = h.lists[drop:], h.first+uint64(drop)
	for i := range h.bells {
		b := &h.bells[i]
		switch rest := time.Duration(b.readers)*pace - time.Since(b.woken); {
		case b.later != nil:
		case rest <= 0:
			b.ring()
		default:
			b.later = time.AfterFunc(rest, func() {
				h.mu.Lock()
				defer h.mu.Unlock()
				b.ring()
			})
		}
	}
}

// ring has the readers look for lists. It is called with the hub's mu held.
func (b *bell) ring() {
	if b.later != nil {
		b.later.Stop()
		b.later = nil
	}
	b.woken = time.Now()
	close(b.wake)
	b.wake = make(chan struct{})
}

// join adds a reader; needsState: one that needs the state before each list. The reader calls leave with the same.
func (h *hub) join(of crowd, needsState bool) { h.count(1, of, needsState) }

func (h *hub) leave(of crowd, needsState bool) { h.count(-1, of, needsState) }

func (h *hub) count(n int, of crowd, needsState bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.bells[of].readers += n
	if needsState {
		h.stateReaders += n
	}
}

// restart is called after a full state at seq: lists may have been missed.
func (h *hub) restart(seq uint64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.first+uint64(len(h.lists)) == seq+1 {
		return
	}
	h.lists, h.first, h.events, h.bytes = nil, seq+1, 0, 0
	h.broken++
	for i := range h.bells {
		h.bells[i].ring()
	}
}

// batchMost is about how many events a reader takes at a time, and batchBytes about how many bytes, as the log has them.
const (
	batchMost  = 2048
	batchBytes = 512 << 10
)

// after returns the last of the lists that follow one and that a reader takes at a time, as far as the hub has them, 0 when there is none,
// and a channel that is closed when there are more, for readers of a crowd. has is false when the next list is older than those of the hub; broken
// reports whether that is because lists were missed.
func (h *hub) after(seq uint64, of crowd) (last uint64, wake <-chan struct{}, has bool, broken int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	wake = h.bells[of].wake
	switch {
	case seq+1 < h.first:
		return 0, wake, false, h.broken
	case seq+1 >= h.first+uint64(len(h.lists)):
		return 0, wake, true, h.broken
	}
	if tail := h.first + uint64(len(h.lists)) - 1; h.taken.after != seq || h.taken.tail != tail {
		h.taken = taken{after: seq, tail: tail, last: seq}
		for events, bytes := 0, 0; h.taken.last < tail && events < batchMost && bytes < batchBytes; h.taken.last++ {
			next := h.lists[h.taken.last+1-h.first]
			events, bytes = events+len(next.list.Events), bytes+next.size
		}
	}
	return h.taken.last, wake, true, h.broken
}

// taken is the last answer of after, for the many readers that are as far as each other.
type taken struct{ after, tail, last uint64 }

// between returns the lists after one up to another; nil when the hub has not all of them any more.
func (h *hub) between(after, last uint64) []*entry {
	h.mu.Lock()
	defer h.mu.Unlock()
	if after+1 < h.first || last >= h.first+uint64(len(h.lists)) {
		return nil
	}
	return slices.Clone(h.lists[after+1-h.first : last+1-h.first]) // add clears what it drops
}

// jsons returns the events of the list as JSON.
func (e *entry) jsons() []printed {
	e.print.Do(func() { e.all = printAll(&e.list) })
	return e.all
}

// in returns all events of the list in a form.
func (e *entry) in(f form) []byte {
	t := &e.text[f]
	t.print.Do(func() { t.bytes = f.appendList(nil, e.list.Seq, e.jsons()) })
	return t.bytes
}

// append appends what passes a filter.
func (e *entry) append(dst []byte, f form, chosen *filter.Filter) []byte {
	if chosen.Empty() {
		return append(dst, e.in(f)...)
	}
	if chosen.NeedsState() && e.before == nil { // from before the reader came
		return dst
	}
	return f.appendList(dst, e.list.Seq, chosenOf(&e.list, e.jsons(), chosen, memoryOf(e.before)))
}

// memoryOf avoids a Memory that is not nil with a nil state in it.
func memoryOf(s *state.State) filter.Memory {
	if s == nil {
		return nil
	}
	return s
}

// chosenOf returns the events that pass a filter; all are those of the list, printed.
func chosenOf(l *events.List, all []printed, chosen *filter.Filter, before filter.Memory) (out []printed) {
	one := *l
	for i := range l.Events {
		one.Events = l.Events[i : i+1 : i+1]
		if len(chosen.Of(one, before).Events) > 0 {
			out = append(out, all[i])
		}
	}
	return out
}

func printAll(l *events.List) (out []printed) {
	var b bytes.Buffer
	w := json.NewEncoder(&b)
	w.SetEscapeHTML(false)
	for _, e := range l.Events {
		begin := b.Len()
		if w.Encode(document.EventOf(l, e, nil)) != nil {
			continue
		}
		out = append(out, printed(bytes.Clone(b.Bytes()[begin:b.Len()-1])))
	}
	return out
}

// appendList appends events of one list. Only the last one carries the number: a reader that was interrupted before it gets the whole
// list again.
func (f form) appendList(dst []byte, seq uint64, all []printed) []byte {
	for i, p := range all {
		if f == lines {
			dst = append(append(dst, p...), '\n')
			continue
		}
		if i == len(all)-1 {
			dst = append(strconv.AppendUint(append(dst, "id: "...), seq, 10), '\n')
		}
		dst = append(append(append(dst, "data: "...), p...), "\n\n"...)
	}
	return dst
}

// appendMark appends that all up to a list was sent: readers whose filter lets little through know how far they are.
func (f form) appendMark(dst []byte, seq uint64) []byte {
	if f == lines {
		return append(strconv.AppendUint(append(dst, `{"seq":`...), seq, 10), "}\n"...)
	}
	return append(strconv.AppendUint(append(dst, "id: "...), seq, 10), "\n\n"...)
}

// appendEnd appends why the stream ends, and where to continue.
func (f form) appendEnd(dst []byte, reason string, resume uint64) []byte {
	text := `{"end":"` + reason + `","resume":` + strconv.FormatUint(resume, 10) + "}"
	if f == lines {
		return append(append(dst, text...), '\n')
	}
	dst = strconv.AppendUint(append(dst, "id: "...), resume-1, 10)
	return append(append(append(dst, "\nevent: end\ndata: "...), text...), "\n\n"...)
}
