package bus

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/quill-grid/quill/pkg/frame"
)

// BenchmarkAppend is one frame after the other on disk, beside the bare append
// and fsync of the same bytes: the limit in the same run.
func BenchmarkAppend(b *testing.B) {
	for _, size := range []int{200, 4 << 10, 64 << 10} {
		payload := list(1, size)
		b.Run(fmt.Sprintf("fsync/%d", size), func(b *testing.B) {
			f, err := os.Create(filepath.Join(b.TempDir(), "bare"))
			if err != nil {
				b.Fatal(err)
			}
			defer f.Close()
			for b.Loop() {
				f.Write(payload)
				if err := f.Sync(); err != nil {
					b.Fatal(err)
				}
			}
		})
		for _, durable := range []bool{true, false} {
			name := map[bool]string{true: "durable", false: "fast"}[durable]
			b.Run(fmt.Sprintf("%s/%d", name, size), func(b *testing.B) {
				l := own(b, inside(b, startServer(b, ServerOptions{Durable: durable}), qmaster))
				seq := uint64(0)
				for b.Loop() {
					seq++
					if err := l.Append(&frame.Frame{First: seq, Last: seq, Count: 1, Payload: payload}); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

// BenchmarkCommit puts lists of 200 bytes as fast as they are taken, durably:
// what group commit makes of the fsync rate.
func BenchmarkCommit(b *testing.B) {
	l := own(b, inside(b, startServer(b, ServerOptions{Durable: true}), qmaster))
	room := make(chan struct{}, 2000)
	frames := 0
	c := NewCommitter(l, func(f *frame.Frame, _ time.Duration) {
		frames++
		for range f.Count {
			<-room
		}
	}, func(err error) { b.Error(err) })
	seq, payload := uint64(0), list(1, 200)
	for b.Loop() {
		seq++
		room <- struct{}{}
		c.Put(seq, encoded(payload))
	}
	c.Close()
	b.ReportMetric(float64(seq)/float64(frames), "lists/frame")
}

// BenchmarkRead reads a million lists back, checked, as recovery does.
func BenchmarkRead(b *testing.B) {
	const lists = 1_000_000
	for _, perFrame := range []int{1, 20, 500} {
		b.Run(fmt.Sprintf("%d-a-frame", perFrame), func(b *testing.B) {
			l := own(b, inside(b, startServer(b, ServerOptions{}), qmaster))
			payload := list(1, 200*perFrame)
			for seq := uint64(1); seq <= lists; seq += uint64(perFrame) {
				f := frame.Frame{First: seq, Last: seq + uint64(perFrame) - 1, Count: uint32(perFrame), Payload: payload}
				if err := l.Append(&f); err != nil {
					b.Fatal(err)
				}
			}
			for b.Loop() {
				start := time.Now()
				end, err := l.Read(frame.Point{}, func(frame.Frame) error { return nil })
				if err != nil || end.Seq != lists {
					b.Fatal(end, err)
				}
				b.ReportMetric(lists/time.Since(start).Seconds(), "lists/s")
			}
		})
	}
}

// BenchmarkHash is the price of the chain.
func BenchmarkHash(b *testing.B) {
	for _, size := range []int{200, 64 << 10} {
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			payload := list(1, size)
			b.SetBytes(int64(size))
			for b.Loop() {
				sha256.Sum256(payload)
			}
		})
	}
}
