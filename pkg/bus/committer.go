package bus

import "sync"

// Committer does the group commit: lists that are put while a frame is being
// synced go together into the next frames. It owns the writing end of a Log.
type Committer struct {
	log    *Log
	landed func(*Frame)
	failed func(error)

	mu     sync.Mutex
	work   sync.Cond
	now    batch // being filled
	closed bool
	done   chan struct{}
}

// batch is lists one behind the other: list i has Seq first+i and ends at ends[i].
type batch struct {
	first uint64
	bytes []byte
	ends  []int
}

// NewCommitter starts appending to log, which must have been taken over. landed
// is called for every frame once it is acknowledged, in order, by one goroutine;
// the frame is valid until landed returns. A list that needed several frames has
// landed with the one that is not More. failed is called at most once, with the
// error of Append; after it nothing lands any more.
func NewCommitter(log *Log, landed func(*Frame), failed func(error)) *Committer {
	c := &Committer{log: log, landed: landed, failed: failed, done: make(chan struct{})}
	c.work.L = &c.mu
	go c.run()
	return c
}

// Put hands over the list with the given Seq, which must be one more than the
// last; list is copied. Put does not wait.
func (c *Committer) Put(seq uint64, list []byte) {
	c.mu.Lock()
	if len(c.now.ends) == 0 {
		c.now.first = seq
	} else if want := c.now.first + uint64(len(c.now.ends)); seq != want {
		c.mu.Unlock()
		panic("bus: lists are put out of order")
	}
	c.now.bytes = append(c.now.bytes, list...)
	c.now.ends = append(c.now.ends, len(c.now.bytes))
	c.mu.Unlock()
	c.work.Signal()
}

// Waiting is how many bytes of lists are not being appended yet: what an owner
// looks at before it takes on more work.
func (c *Committer) Waiting() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.now.bytes)
}

// Close returns when everything put has landed or failed. Put must not be called
// any more.
func (c *Committer) Close() {
	c.mu.Lock()
	c.closed = true
	c.mu.Unlock()
	c.work.Signal()
	<-c.done
}

func (c *Committer) run() {
	defer close(c.done)
	var writing batch
	for {
		c.mu.Lock()
		for len(c.now.ends) == 0 && !c.closed {
			c.work.Wait()
		}
		if len(c.now.ends) == 0 {
			c.mu.Unlock()
			return
		}
		writing.bytes, writing.ends = writing.bytes[:0], writing.ends[:0]
		c.now, writing = writing, c.now
		c.mu.Unlock()
		if err := c.write(&writing); err != nil {
			c.failed(err)
			return
		}
	}
}

// write appends a batch in as few frames as it takes.
func (c *Committer) write(b *batch) error {
	start, i := 0, 0
	for i < len(b.ends) {
		n := i
		for n < len(b.ends) && b.ends[n]-start <= FrameMax {
			n++
		}
		f := Frame{First: b.first + uint64(i)}
		if n == i { // too big for one frame
			if err := c.writeParts(f.First, b.bytes[start:b.ends[i]]); err != nil {
				return err
			}
			n++
		} else {
			f.Count = uint32(n - i)
			f.Last = f.First + uint64(n-i) - 1
			f.Payload = b.bytes[start:b.ends[n-1]]
			if err := c.append(&f); err != nil {
				return err
			}
		}
		start, i = b.ends[n-1], n
	}
	return nil
}

func (c *Committer) writeParts(seq uint64, list []byte) error {
	flags := More
	for len(list) > FrameMax {
		if err := c.append(&Frame{Flags: flags, First: seq, Last: seq, Payload: list[:FrameMax]}); err != nil {
			return err
		}
		list, flags = list[FrameMax:], More|Rest
	}
	return c.append(&Frame{Flags: Rest, Count: 1, First: seq, Last: seq, Payload: list})
}

func (c *Committer) append(f *Frame) error {
	if err := c.log.Append(f); err != nil {
		return err
	}
	c.landed(f)
	return nil
}
