package codec_test

import (
	"fmt"
	"runtime"
	"testing"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/pkg/codec"
	"github.com/quill-grid/quill/pkg/grid"
)

// typicalJob is what qsub -b y sends: few options, twenty variables.
func typicalJob(id uint32) *grid.Job {
	j := &grid.Job{
		ID: id, Version: 1, Name: "sleep", Owner: "alice", Group: "users", UID: 1000, GID: 100, Account: "sge",
		Department: "defaultdepartment", Submit: 1700000000123, Tasks: grid.Range{First: 1, Last: 1, Step: 1},
		Pending: grid.Ranges{{First: 1, Last: 1, Step: 1}}, Binary: true,
		JobRequest: &grid.JobRequest{Hard: grid.Requests{{Name: "h_rt", Value: "3600", Num: 3600}}},
		Spec: &grid.JobSpec{
			Cwd: "/home/alice/work", Command: "sleep", Args: []string{"60"}, Verify: "n", SubmitHost: "h1",
			SubmitCommand: "qsub -b y -l h_rt=3600 sleep 60",
		},
	}
	for i := range 20 {
		j.Spec.Env = append(
			j.Spec.Env, grid.Value{Name: fmt.Sprintf("SGE_O_VARIABLE%d", i), Text: "/usr/local/bin:/usr/bin:/bin"})
	}
	return j
}

func typicalTask(id uint32) *grid.JATask {
	return &grid.JATask{Job: id, ID: 1, Attempt: 1, Status: grid.Running, State: grid.StateRunning,
		Grants: []grid.Grant{{Queue: "all.q", Host: "h1", Slots: 1}}, Start: 1700000001123, WallSeconds: 3600}
}

func BenchmarkAppend(b *testing.B) {
	for name, o := range map[string]grid.Object{"job": typicalJob(7), "task": typicalTask(7)} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			var buf []byte
			for b.Loop() {
				buf = codec.AppendObject(buf[:0], o)
			}
			b.ReportMetric(float64(len(buf)), "bytes")
		})
	}
	l := events.List{Seq: 7, Events: []events.Event{events.Mod(typicalJob(7)), events.Add(typicalTask(7))}}
	b.Run("list", func(b *testing.B) {
		b.ReportAllocs()
		var buf []byte
		for b.Loop() {
			buf = codec.AppendList(buf[:0], l)
		}
		b.ReportMetric(float64(len(buf)), "bytes")
	})
}

func BenchmarkDecode(b *testing.B) {
	l := codec.AppendList(
		nil, events.List{Seq: 7, Events: []events.Event{events.Mod(typicalJob(7)), events.Add(typicalTask(7))}})
	for name, d := range map[string]*codec.Decoder{"alone": nil, "shared": new(codec.Decoder)} {
		for kind, o := range map[string]grid.Object{"job": typicalJob(7), "task": typicalTask(7)} {
			buf := codec.AppendObject(nil, o)
			b.Run(kind+"/"+name, func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					if _, err := d.Object(o.Kind(), buf); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
		b.Run("list/"+name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, _, err := d.List(l); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkJobMemory decodes jobs that are kept, and reports what each holds.
func BenchmarkJobMemory(b *testing.B) {
	const n = 20000
	for name, d := range map[string]*codec.Decoder{"alone": nil, "shared": new(codec.Decoder)} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				var before, after runtime.MemStats
				runtime.GC()
				runtime.ReadMemStats(&before)
				kept := make([]grid.Object, n)
				var buf []byte
				for i := range kept {
					buf = codec.AppendObject(buf[:0], typicalJob(uint32(i+1)))
					kept[i], _ = d.Object(grid.KindJob, buf)
				}
				runtime.GC()
				runtime.ReadMemStats(&after)
				b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/n, "B/job")
				runtime.KeepAlive(kept)
			}
		})
	}
}
