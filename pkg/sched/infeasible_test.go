package sched_test

import (
	"fmt"
	"testing"

	"github.com/quill-grid/quill/pkg/reason"
	"github.com/quill-grid/quill/pkg/sched"
)

// TestManyImprovements: a job that fits nowhere is found a place when its host improves, however many load reports come
// before and after.
func TestManyImprovements(t *testing.T) {
	for _, reports := range []int{0, 500, 1200, 5000} {
		c := newCell()
		for _, line := range []string{"complex slots INT <= YES YES 1", "complex np_load_avg DOUBLE >= NO NO 0",
			"complex mem_free MEMORY <= YES NO 0",
			"host h1 np_load_avg=0.1 mem_free=1G", "queue all.q hosts=h1 slots=1", "submit 1 l=mem_free=2G"} {
			if err := c.do(line); err != nil {
				t.Fatal(err)
			}
		}
		need := c.Cluster.Need(c.State.Job(1))
		place := func() reason.Reason {
			run := c.Cluster.Copy(c.State.Copy())
			run.Begin(c.Now)
			_, why := run.FindPlacement(need, &sched.Cursor{})
			return why
		}
		if place().Fits() {
			t.Fatal("it fits at once")
		}
		for i := range reports {
			c.do(fmt.Sprintf("load h1 np_load_avg=0.%d mem_free=1G", 1+i%9))
			if i%1000 == 700 && place().Fits() {
				t.Fatalf("it fits after %d reports", i)
			}
		}
		for i := range 1 + reports/4 {
			c.do(fmt.Sprintf("load h1 np_load_avg=0.%d mem_free=3G", 1+i%9))
		}
		if why := place(); !why.Fits() {
			t.Errorf("%d reports, then the one that matters, and some more: %v", reports, why)
		}
	}
}
