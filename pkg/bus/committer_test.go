package bus

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/quill-grid/quill/pkg/frame"
)

// TestGather has a frame land, and asks how long the next one waits for the clients.
func TestGather(t *testing.T) {
	for _, c := range []struct {
		name    string
		clients int
		waiting int           // lists, when the frame has landed
		bytes   int           // of each list; 0: few
		more    int           // lists that are put then, one each 100 µs
		rest    bool          // the frame was not the last one of its batch
		want    time.Duration // until the next frame
	}{
		{"a few clients", gatherClientsMin - 1, 1, 0, 3, false, 0},
		{"all have asked again", 5, 5, 0, 0, false, 0},
		{"two ask again", 5, 3, 0, 2, false, 200 * time.Microsecond},
		{"none asks again", 5, 0, 0, 0, false, time.Millisecond},
		{"one does not", 5, 3, 0, 1, false, time.Millisecond},
		{"many clients", 1000, gatherListsMax - 1, 0, 2, false, 100 * time.Microsecond},
		{"a frame is full", 5, 0, frame.Max, 2, false, 100 * time.Microsecond},
		{"the rest of the last batch is next", 5, 3, 0, 2, true, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				one := &Committer{busy: true}
				seq := uint64(0)
				put := func() {
					seq++
					one.Put(seq, encoded(make([]byte, c.bytes+1)))
				}
				for range c.waiting {
					put()
				}
				if c.rest {
					one.writing.ends = []int{1}
				}
				go func() {
					for range c.more {
						time.Sleep(100 * time.Microsecond)
						put()
					}
				}()
				begun := time.Now()
				one.awaitMoreLists(c.clients, time.Millisecond)
				if took := time.Since(begun); took != c.want {
					t.Errorf("the next frame waits %v, not %v", took, c.want)
				}
				time.Sleep(time.Millisecond)
				synctest.Wait()
				put() // nothing waits for it
			})
		})
	}
}
