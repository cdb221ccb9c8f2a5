package mirror

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

// keptEvents and KeptBytes bound the events that a hub keeps for readers that lag: what is older is cut off for them.
// The bytes are those of the events as the log has them; in memory, and printed for readers, they are some ten times as
// many.
const (
	keptEvents = 100_000
	KeptBytes  = 16 << 20
)

// Hub follows a mirror with the last event lists for all that read the stream. Each list is decoded and printed once
// for all readers. Follow and Restart write the lists, readers the counts of readers and the shared batches.
type Hub struct {
	Keep int // events, at most; set before the first list

	mu           sync.Mutex
	lists        []*Entry // without gaps
	first        uint64   // the Seq of lists[0], or of the next list
	events       int      // in lists
	bytes        int      // of them, as the log has them
	broken       int      // how often lists were missed: the mirror registered again
	stateReaders int      // readers that need the state before a list
	bells        [2]bell
	shared       []*Batch // the last ones, the newest last
	taken        taken
}

// Crowd is to which readers one belongs: the first readers of each user, and all others. The others do not make
// wake-ups of the first ones rarer.
type Crowd int

const (
	Few Crowd = iota
	Many
	FewMost = 32 // of one user
)

// bell wakes the readers of a crowd. It is used with the hub's mu held.
type bell struct {
	readers int
	wake    chan struct{}
	woken   time.Time   // the last time
	later   *time.Timer // wakes the readers of what came too soon after that; nil: not armed
}

// sharedMost is how many batches are kept: readers that are as far as each other take the same one at about the same
// time.
const sharedMost = 16

// BatchKey is what a batch depends on: the lists after one up to another, the form, and the conditions of its readers.
type BatchKey struct {
	After, Last uint64
	Form        Form
	Conditions  string
}

// Batch is the text of several lists. It is made by the first reader that needs it, for all of them.
type Batch struct {
	key   BatchKey
	Text  func() (text []byte, has bool) // has: the hub had the lists yet
	Piece func() Piece                   // the text compressed
}

// Batch returns the batch for a key.
func (h *Hub) Batch(k BatchKey, text func() ([]byte, bool)) *Batch {
	h.mu.Lock()
	var one *Batch
	for i := len(h.shared) - 1; i >= 0 && one == nil; i-- {
		if h.shared[i].key == k {
			one = h.shared[i]
		}
	}
	if one == nil {
		one = &Batch{key: k, Text: sync.OnceValues(text)}
		one.Piece = sync.OnceValue(func() Piece {
			text, _ := one.Text()
			return Compress(text)
		})
		if len(h.shared) == sharedMost {
			h.shared = append(h.shared[:0], h.shared[1:]...)
		}
		h.shared = append(h.shared, one)
	}
	h.mu.Unlock()
	return one
}

// pace is how much rarer each reader makes wake-ups. Waking one and sending to it takes some 70 microseconds of
// processor time while much happens: lists that come faster are sent together, and many readers cost 2 % of the
// processors, not all that there is. A list that comes alone is sent at once.
var pace = 4 * time.Millisecond / time.Duration(runtime.GOMAXPROCS(0))

// Entry is a list in a hub. The first reader prints it; then it never changes.
type Entry struct {
	List   events.List
	size   int          // bytes, as the log has it
	before *state.State // nil where no reader needs it

	print sync.Once
	all   []Printed // the events of the list
	text  [2]struct {
		print sync.Once
		bytes []byte // all of them in this form
	}
}

// Form is how the stream is written.
type Form int

const (
	serverSent Form = iota
	Lines
)

// Printed is an event as JSON.
type Printed []byte

// NewHub returns a hub without lists.
func NewHub() *Hub {
	return &Hub{Keep: keptEvents, bells: [2]bell{{wake: make(chan struct{})}, {wake: make(chan struct{})}}}
}

// Follow takes the next list. The state of the update is that before the list.
func (h *Hub) Follow(u *Update) {
	l, size := u.List, u.Size
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.lists) > 0 && l.Seq != h.first+uint64(len(h.lists)) || len(h.lists) == 0 && h.first != l.Seq {
		h.lists, h.first, h.events, h.bytes = nil, l.Seq, 0, 0
		h.broken++
	}
	e := &Entry{List: l, size: size}
	if h.stateReaders > 0 {
		e.before = u.State.Copy()
	}
	h.lists = append(h.lists, e)
	h.events += len(l.Events)
	h.bytes += size
	drop := 0
	for (h.events > h.Keep || h.bytes > KeptBytes) && drop < len(h.lists)-1 {
		h.events -= len(h.lists[drop].List.Events)
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
			b.wakeReaders()
		default:
			b.later = time.AfterFunc(rest, func() {
				h.mu.Lock()
				defer h.mu.Unlock()
				b.wakeReaders()
			})
		}
	}
}

// wakeReaders has the readers look for lists. It is called with the hub's mu held.
func (b *bell) wakeReaders() {
	if b.later != nil {
		b.later.Stop()
		b.later = nil
	}
	b.woken = time.Now()
	close(b.wake)
	b.wake = make(chan struct{})
}

// Join adds a reader; needsState: one that needs the state before each list. The reader calls leave with the same.
func (h *Hub) Join(of Crowd, needsState bool) { h.countReaders(1, of, needsState) }

func (h *Hub) Leave(of Crowd, needsState bool) { h.countReaders(-1, of, needsState) }

func (h *Hub) countReaders(n int, of Crowd, needsState bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.bells[of].readers += n
	if needsState {
		h.stateReaders += n
	}
}

// Restart is called after a full state: lists may have been missed.
func (h *Hub) Restart(s *state.State) {
	seq := s.Seq
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.first+uint64(len(h.lists)) == seq+1 {
		return
	}
	h.lists, h.first, h.events, h.bytes = nil, seq+1, 0, 0
	h.broken++
	for i := range h.bells {
		h.bells[i].wakeReaders()
	}
}

// batchMost is about how many events a reader takes at a time, and batchBytes about how many bytes, as the log has
// them.
const (
	batchMost  = 2048
	batchBytes = 512 << 10
)

// NextAfter returns the last of the lists that follow one and that a reader takes at a time, as far as the hub has
// them, 0 when there is none, and a channel that is closed when there are more, for readers of a crowd. has is false
// when the next list is older than those of the hub; broken reports whether that is because lists were missed.
func (h *Hub) NextAfter(seq uint64, of Crowd) (last uint64, wake <-chan struct{}, has bool, broken int) {
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
			events, bytes = events+len(next.List.Events), bytes+next.size
		}
	}
	return h.taken.last, wake, true, h.broken
}

// taken is the last answer of after, for the many readers that are as far as each other.
type taken struct{ after, tail, last uint64 }

// ListsBetween returns the lists after one up to another; nil when the hub has not all of them any more.
func (h *Hub) ListsBetween(after, last uint64) []*Entry {
	h.mu.Lock()
	defer h.mu.Unlock()
	if after+1 < h.first || last >= h.first+uint64(len(h.lists)) {
		return nil
	}
	return slices.Clone(h.lists[after+1-h.first : last+1-h.first]) // add clears what it drops
}

// printedEvents returns the events of the list as JSON.
func (e *Entry) printedEvents() []Printed {
	e.print.Do(func() { e.all = PrintEvents(&e.List) })
	return e.all
}

// textIn returns all events of the list in a form.
func (e *Entry) textIn(f Form) []byte {
	t := &e.text[f]
	t.print.Do(func() { t.bytes = f.AppendList(nil, e.List.Seq, e.printedEvents()) })
	return t.bytes
}

// Append appends what passes a filter.
func (e *Entry) Append(dst []byte, f Form, chosen *filter.Filter) []byte {
	if chosen.Empty() {
		return append(dst, e.textIn(f)...)
	}
	if chosen.NeedsState() && e.before == nil { // from before the reader came
		return dst
	}
	return f.AppendList(dst, e.List.Seq, SelectPrinted(&e.List, e.printedEvents(), chosen, MemoryOf(e.before)))
}

// MemoryOf avoids a Memory that is not nil with a nil state in it.
func MemoryOf(s *state.State) events.Memory {
	if s == nil {
		return nil
	}
	return s
}

// SelectPrinted returns the events that pass a filter; all are those of the list, printed.
func SelectPrinted(l *events.List, all []Printed, chosen *filter.Filter, before events.Memory) (out []Printed) {
	one := *l
	for i := range l.Events {
		one.Events = l.Events[i : i+1 : i+1]
		if len(chosen.Of(one, before).Events) > 0 {
			out = append(out, all[i])
		}
	}
	return out
}

func PrintEvents(l *events.List) (out []Printed) {
	var b bytes.Buffer
	w := json.NewEncoder(&b)
	w.SetEscapeHTML(false)
	for _, e := range l.Events {
		begin := b.Len()
		if w.Encode(document.EventOf(l, e, nil)) != nil {
			continue
		}
		out = append(out, Printed(bytes.Clone(b.Bytes()[begin:b.Len()-1])))
	}
	return out
}

// AppendList appends events of one list. Only the last one carries the number: a reader that was interrupted before it
// gets the whole list again.
func (f Form) AppendList(dst []byte, seq uint64, all []Printed) []byte {
	for i, p := range all {
		if f == Lines {
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

// AppendMark appends that all up to a list was sent: readers whose filter lets little through know how far they are.
func (f Form) AppendMark(dst []byte, seq uint64) []byte {
	if f == Lines {
		return append(strconv.AppendUint(append(dst, `{"seq":`...), seq, 10), "}\n"...)
	}
	return append(strconv.AppendUint(append(dst, "id: "...), seq, 10), "\n\n"...)
}

// AppendEnd appends why the stream ends, and where to continue.
func (f Form) AppendEnd(dst []byte, reason string, resume uint64) []byte {
	text := `{"end":"` + reason + `","resume":` + strconv.FormatUint(resume, 10) + "}"
	if f == Lines {
		return append(append(dst, text...), '\n')
	}
	dst = strconv.AppendUint(append(dst, "id: "...), resume-1, 10)
	return append(append(append(dst, "\nevent: end\ndata: "...), text...), "\n\n"...)
}
