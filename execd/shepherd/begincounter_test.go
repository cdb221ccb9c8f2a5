package shepherd

import (
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/quill-grid/quill/pkg/testkit"
)

// TestBeginCounter: awaitBegun waits for all that had begun and for nothing that begins meanwhile.
func TestBeginCounter(t *testing.T) {
	var u beginCounter
	first := u.begin()
	settled := make(chan bool)
	go func() {
		u.awaitBegun()
		close(settled)
	}()
	testkit.Until(t, "that settle waits", testkit.Patience, func() (bool, string) {
		u.mu.Lock()
		defer u.mu.Unlock()
		return u.quiet != nil, ""
	})
	second := u.begin()
	select {
	case <-settled:
		t.Fatal("settle did not wait for what had begun")
	default:
	}
	first()
	<-settled
	second()
	u.awaitBegun()
}

// TestBeginCounterLaw: whatever begins and ends meanwhile, what had begun before awaitBegun is over after it.
func TestBeginCounterLaw(t *testing.T) {
	var u beginCounter
	var begun, over atomic.Int64 // numbers are given in order
	var mu sync.Mutex
	open := map[int64]bool{}
	stop := time.Now().Add(300 * time.Millisecond)
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for time.Now().Before(stop) {
				end := u.begin()
				n := begun.Add(1)
				mu.Lock()
				open[n] = true
				mu.Unlock()
				for range rand.IntN(20) {
					runtime.Gosched()
				}
				mu.Lock()
				delete(open, n)
				mu.Unlock()
				over.Add(1)
				end()
			}
		})
	}
	for range 2 {
		all.Go(func() {
			for time.Now().Before(stop) {
				mu.Lock()
				before := make([]int64, 0, len(open))
				for n := range open {
					before = append(before, n)
				}
				mu.Unlock()
				u.awaitBegun()
				mu.Lock()
				for _, n := range before {
					if open[n] {
						t.Errorf("%d had begun and is not over", n)
					}
				}
				mu.Unlock()
			}
		})
	}
	all.Wait()
	if begun.Load() == 0 || begun.Load() != over.Load() {
		t.Errorf("%d begun, %d over", begun.Load(), over.Load())
	}
}
