package shepherd

import (
	"sync"
	"testing"
)

// TestSharedRun: callers that come during a run share the next one, and none returns before a run that began after its
// call.
func TestSharedRun(t *testing.T) {
	var s sharedRun
	begun, goOn := make(chan bool), make(chan bool)
	runs := 0
	f := func() {
		runs++
		begun <- true
		<-goOn
	}
	var all sync.WaitGroup
	all.Go(func() { s.runAfterCall(f) })
	<-begun
	const callers = 100
	var waiting sync.WaitGroup
	for range callers {
		waiting.Add(1)
		all.Go(func() {
			waiting.Done()
			s.runAfterCall(f)
		})
	}
	waiting.Wait()
	over := make(chan bool)
	go func() {
		all.Wait()
		close(over)
	}()
	goOn <- true
	for open := true; open; {
		select {
		case <-begun:
			goOn <- true
		case <-over:
			open = false
		}
	}
	if runs < 2 || runs > 2+callers/10 {
		t.Errorf("%d runs for %d callers during one", runs, callers)
	}
}
