package qmaster

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/quill-grid/quill/orders"
	"github.com/quill-grid/quill/pkg/bus"
	"github.com/quill-grid/quill/pkg/client"
	"github.com/quill-grid/quill/pkg/codec"
	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/grid"
)

// BenchmarkSubmit is acknowledged jobs from one client and from many, durable
// and not. Compare with BenchmarkSync, one append and fsync of the same disk.
func BenchmarkSubmit(b *testing.B) {
	for _, durable := range []bool{false, true} {
		for _, clients := range []int{1, 16, 256} {
			b.Run(fmt.Sprintf("durable=%t/clients=%d", durable, clients), func(b *testing.B) {
				cell := newCell(b)
				q := start(b, Options{Cell: cell, Durable: durable})
				defer stop(b, q)
				work := make(chan int)
				var all sync.WaitGroup
				c := connect(b, cell)
				for i := range clients {
					if i%16 == 0 {
						c = connect(b, cell)
					}
					c := c
					all.Go(func() {
						for n := range work {
							submitJob(b, c, fmt.Sprint("j", n))
						}
					})
				}
				b.ResetTimer()
				for n := range b.N {
					work <- n
				}
				close(work)
				all.Wait()
			})
		}
	}
}

func BenchmarkSync(b *testing.B) {
	f, err := os.Create(filepath.Join(b.TempDir(), "f"))
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	data := make([]byte, 500)
	for b.Loop() {
		if _, err := f.Write(data); err != nil {
			b.Fatal(err)
		}
		if err := f.Sync(); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkList is the brief listing of 100,000 jobs, decoding included.
func BenchmarkList(b *testing.B) {
	cell := newCell(b)
	const n = 100_000
	q := start(b, Options{Cell: cell})
	defer stop(b, q)
	load(b, q, n)
	c := connect(b, cell)
	b.ResetTimer()
	for b.Loop() {
		seen := 0
		_,
			err := c.Get(context.Background(),
			gdi.Get{Kinds: []grid.Kind{grid.KindJob, grid.KindJATask}, Where: gdi.Where{Brief: true}}, func(grid.Object) error {
				seen++
				return nil
			})
		if err != nil || seen != n {
			b.Fatal(seen, err)
		}
	}
}

// load submits n jobs, many at a time.
func load(b testing.TB, q *QMaster, n int) {
	b.Helper()
	var all sync.WaitGroup
	work := make(chan int)
	for range 4 {
		c := connect(b, q.opts.Cell)
		for range 64 {
			all.Go(func() {
				for i := range work {
					submitJob(b, c, fmt.Sprint("job", i))
				}
			})
		}
	}
	for i := range n {
		work <- i
	}
	close(work)
	all.Wait()
}

// BenchmarkVisit is what a short command costs: find the cell, connect, ask,
// close.
func BenchmarkVisit(b *testing.B) {
	cell := newCell(b)
	q := start(b, Options{Cell: cell})
	defer stop(b, q)
	for b.Loop() {
		c, err := client.Connect(context.Background(), cell)
		if err != nil {
			b.Fatal(err)
		}
		submitJob(b, c, "j")
		c.Close()
	}
}

// BenchmarkRecover is the start of a cell with 100,000 pending jobs after a
// clean stop: time and memory per job.
func BenchmarkRecover(b *testing.B) {
	cell := newCell(b)
	const n = 100_000
	q := start(b, Options{Cell: cell})
	load(b, q, n)
	stop(b, q)
	for b.Loop() {
		begun := time.Now()
		q := start(b, Options{Cell: cell})
		b.ReportMetric(float64(time.Since(begun).Microseconds())/n, "µs/job")
		runtime.GC()
		var mem runtime.MemStats
		runtime.ReadMemStats(&mem)
		b.ReportMetric(float64(mem.HeapAlloc)/n, "B/job")
		stop(b, q)
	}
}

// BenchmarkRecord copies lists of orders to the debug stream, as each that
// schedd sends is.
func BenchmarkRecord(b *testing.B) {
	for _, n := range []int{1, 100, 2000} {
		b.Run(fmt.Sprint(n, " orders"), func(b *testing.B) {
			server, err := bus.Start(bus.ServerOptions{Dir: b.TempDir(), Durable: true})
			if err != nil {
				b.Fatal(err)
			}
			defer server.Stop()
			conn, err := server.Connect(me)
			if err != nil {
				b.Fatal(err)
			}
			defer conn.Close()
			r := newRecord(conn, 1, 1, hclog.NewNullLogger(), nil)
			if err := r.debug.SetRetention(retention(nil)); err != nil {
				b.Fatal(err)
			}
			l := orders.List{Scheduler: "schedd", Algorithm: "default"}
			for i := range n {
				l.Orders = append(l.Orders, &orders.StartJob{Job: uint32(i), Task: 1,
					Grants: []grid.Grant{{Queue: "all.q", Host: "node17", Slots: 1}}, QueueVersions: []uint32{1}, Priority: 0.5})
			}
			list, result := codec.AppendOrders(nil, l), codec.AppendResult(nil, orders.Answer{Seq: 1})
			for b.Loop() {
				r.put(list, result)
			}
			ctx, cancel := context.WithTimeout(b.Context(), time.Minute)
			defer cancel()
			if err := conn.Flush(ctx); err != nil {
				b.Fatal(err)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/order")
		})
	}
}
