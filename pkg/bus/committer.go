package bus

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/quill-grid/quill/pkg/frame"
)

// Committer does the group commit: lists that are put while a frame is being synced go
// together into the next frames. The goroutine that puts the first one sends it; the next
// frames are sent by the goroutine that received the last acknowledgement, when landed has
// returned and clients that it answered have asked again: see awaitMoreLists. A Committer owns the
// writing end of a Log.
type Committer struct {
	log    *Log
	landed func(f *frame.Frame, took time.Duration)
	failed func(error)

	mu   sync.Mutex
	now  listBatch     // being filled
	busy bool          // a frame is being appended, or gathered
	want int           // so many lists in now are a frame for awaitMoreLists; 0: they have come
	full chan struct{} // closed when they have
	born time.Time
	sent atomic.Int64 // since when a frame is being appended, in nanoseconds after born; 0: none is

	writing  listBatch // its lists, and those of the frames after it
	frame    frame.Frame
	inFlight chan struct{} // run has to wait for it
	done     chan struct{}
}

// listBatch is lists one after the other: list i has Seq first+i and ends at ends[i].
type listBatch struct {
	first uint64
	bytes []byte
	ends  []int

	lists int  // so many have been cut off
	start int  // and so many bytes
	more  bool // the last of them are a part of a list
}

// NewCommitter starts appending to log, which must have been taken over. landed
// is called for every frame once it is acknowledged, in order, by one goroutine, with the time that took;
// the frame is valid until landed returns. A list that needed several frames has
// landed with the one that is not More. failed is called at most once, with the
// error of Append; after it nothing lands any more.
func NewCommitter(log *Log, landed func(f *frame.Frame, took time.Duration), failed func(error)) *Committer {
	c := &Committer{log: log, born: time.Now(), landed: landed, failed: failed, inFlight: make(chan struct{}, 1),
		done: make(chan struct{})}
	go c.receiveAcks()
	return c
}

// Put hands over the list with the given Seq, which must be one more than the
// last: encode appends it to what waits already, which spares the copy of a large one. Put does not wait.
func (c *Committer) Put(seq uint64, encode func(waiting []byte) []byte) {
	c.mu.Lock()
	if len(c.now.ends) == 0 {
		c.now.first = seq
	} else if want := c.now.first + uint64(len(c.now.ends)); seq != want {
		c.mu.Unlock()
		panic("bus: lists are put out of order")
	}
	c.now.bytes = encode(c.now.bytes)
	c.now.ends = append(c.now.ends, len(c.now.bytes))
	if c.want > 0 && c.isFull() {
		c.want = 0
		close(c.full)
	}
	idle := !c.busy
	c.busy = true
	c.mu.Unlock()
	if idle {
		c.beginNextFrame()
		c.inFlight <- struct{}{}
	}
}

// isFull reports whether what awaitMoreLists waits for has come. It is called with mu held.
func (c *Committer) isFull() bool {
	return len(c.now.ends) >= c.want || len(c.now.bytes) >= frame.Max
}

// Waiting is how many bytes of lists are not being appended yet: what an owner
// looks at before it takes on more work.
func (c *Committer) Waiting() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.now.bytes)
}

// Appending returns how long the frame that is being appended has been waited for; 0: none is being appended.
func (c *Committer) Appending() time.Duration {
	if sent := c.sent.Load(); sent != 0 {
		return time.Since(c.born) - time.Duration(sent)
	}
	return 0
}

// Close returns when everything put has landed or failed. Put must not be called
// any more.
func (c *Committer) Close() {
	close(c.inFlight)
	<-c.done
}

func (c *Committer) receiveAcks() {
	defer close(c.done)
	for range c.inFlight {
		for more := true; more; {
			if err := c.log.finishAppend(); err != nil {
				c.failed(err)
				return
			}
			took := c.Appending()
			c.sent.Store(0)
			clients := int(c.frame.Count) + c.waitingLists()
			c.landed(&c.frame, took)
			c.awaitMoreLists(clients, min(2*took, gatherTimeMax))
			more = c.beginNextFrame()
		}
	}
}

// waitingLists returns how many lists wait for the next frame.
func (c *Committer) waitingLists() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.now.ends)
}

// gatherClientsMin is from how many clients on awaitMoreLists waits, gatherListsMax for how many lists at most, which
// is a large frame, and gatherTimeMax the longest time.
const (
	gatherClientsMin = 5
	gatherListsMax   = 16
	gatherTimeMax    = time.Millisecond
)

// awaitMoreLists waits until as many lists wait as clients were seen, but no longer than most: each
// client that is answered asks again, and one large frame costs much less than two that
// take turns. It is what PostgreSQL calls commit_delay and commit_siblings, the first as
// measured. A few clients are not waited for.
func (c *Committer) awaitMoreLists(clients int, most time.Duration) {
	if clients < gatherClientsMin || c.writing.lists < len(c.writing.ends) { // the rest of the last batch is next
		return
	}
	c.mu.Lock()
	c.want, c.full = min(clients, gatherListsMax), make(chan struct{})
	full := c.isFull()
	c.mu.Unlock()
	if full {
		return
	}
	late := time.NewTimer(most)
	defer late.Stop()
	select {
	case <-c.full:
	case <-late.C:
	}
}

// beginNextFrame begins to append the next frame. false: there is none. It belongs to the one
// who made c busy, and then to run.
func (c *Committer) beginNextFrame() bool {
	if c.writing.lists == len(c.writing.ends) {
		c.mu.Lock()
		if len(c.now.ends) == 0 {
			c.busy = false
			c.mu.Unlock()
			return false
		}
		c.writing = listBatch{bytes: c.writing.bytes[:0], ends: c.writing.ends[:0]}
		c.now, c.writing = c.writing, c.now
		c.mu.Unlock()
	}
	c.frame = c.writing.cutFrame()
	c.sent.Store(int64(time.Since(c.born)))
	c.log.beginAppend(&c.frame)
	return true
}

// cutFrame takes off what goes into the next frame: as many lists as it holds, or a
// part of one that is too long.
func (b *listBatch) cutFrame() frame.Frame {
	n := b.lists
	for n < len(b.ends) && b.ends[n]-b.start <= frame.Max && !(b.more && n > b.lists) {
		n++
	}
	f := frame.Frame{First: b.first + uint64(b.lists), Last: b.first + uint64(n) - 1, Count: uint32(n - b.lists)}
	end := b.start + frame.Max
	if b.more {
		f.Flags |= frame.Rest
	}
	if b.more = n == b.lists; b.more {
		f.Flags |= frame.More
		f.Last = f.First
	} else {
		end = b.ends[n-1]
	}
	f.Payload = b.bytes[b.start:end]
	b.start, b.lists = end, n
	return f
}
