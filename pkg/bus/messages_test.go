package bus

import (
	"math"
	"regexp"
	"runtime"
	"sync/atomic"
	"testing"

	"github.com/quill-grid/quill/pkg/bus/bustest"
	"github.com/quill-grid/quill/pkg/frame"
)

// throughWay returns a log with 10 lists, which is read over a connection whose bytes change may alter.
func throughWay(t *testing.T, change func([]byte)) *Log {
	t.Helper()
	o := elsewhere(t, qmaster)[0]
	o.URL = bustest.NewWayWith(t, o.URL, change).URL
	c, err := Connect(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	l := own(t, c)
	for seq := range uint64(10) {
		appendLists(t, l, seq+1, seq+1)
	}
	return l
}

// TestReplicaLags: a stream is read from one of its replicas, which may have been away and say that a message is the
// last one while the leader has more. Its words are put into the server's mouth: at message 5, and when it is asked for
// the next ones.
func TestReplicaLags(t *testing.T) {
	last := regexp.MustCompile(`\$JS\.ACK\.\S*GE_EVENTS\.\S+\.\d+\.5\.\d+\.\d{19}\.(6)`)
	none := regexp.MustCompile(`"num_pending":(6)`)
	var changed atomic.Int32
	changed.Store(-1)
	l := throughWay(t, func(b []byte) {
		for i, words := range []*regexp.Regexp{last, none} {
			if at := words.FindSubmatchIndex(b); at != nil && changed.CompareAndSwap(int32(i), int32(i+1)) {
				b[at[2]] = '0'
			}
		}
	})
	changed.Store(0)
	seen, end, err := readAll(t, l, frame.Point{})
	if err != nil || len(seen) != 11 || end.Seq != 10 {
		t.Errorf("%v up to list %d: %v", seen, end.Seq, err)
	}
	if n := changed.Load(); n != 2 {
		t.Errorf("%d words were changed", n)
	}
}

// TestLostMessage: a message that the server has sent and that did not come is requested anew.
func TestLostMessage(t *testing.T) {
	number := regexp.MustCompile(`\$JS\.ACK\.\S*GE_EVENTS\.\S+\.\d+\.5\.(\d)\.\d{19}\.\d`)
	var changed atomic.Int32
	changed.Store(-1)
	l := throughWay(t, func(b []byte) {
		if at := number.FindSubmatchIndex(b); at != nil && changed.CompareAndSwap(0, 1) {
			b[at[2]]++
		}
	})
	changed.Store(0)
	seen, end, err := readAll(t, l, frame.Point{})
	if err != nil || len(seen) != 11 || end.Seq != 10 || changed.Load() != 1 {
		t.Errorf("%v up to list %d: %v, %d numbers were changed", seen, end.Seq, err, changed.Load())
	}
}

// TestSlowReader: a log that is longer than what a reader takes is not in memory while the reader is busy with its
// beginning, and no message is too long. Two requests, and the blocks of the stream that the server reads, are there.
func TestSlowReader(t *testing.T) {
	const size, number = 256 << 10, 256
	l := own(t, inside(t, startServer(t, ServerOptions{}), qmaster))
	for seq := range uint64(number) {
		appendSized(t, l, seq+1, size)
	}
	appendSized(t, l, number+1, frame.Max-64)
	live := func() uint64 {
		least := uint64(math.MaxUint64)
		for range 4 { // pools of the server are emptied by the second one, and others allocate after it
			var m runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&m)
			least = min(least, m.HeapAlloc)
		}
		return least
	}
	before, most := live(), uint64(0)
	end, err := l.Read(frame.Point{}, func(f frame.Frame) error {
		if f.First%64 == 1 {
			most = max(most, live())
		}
		return nil
	})
	if err != nil || end.Seq != number+1 {
		t.Errorf("up to list %d: %v", end.Seq, err)
	}
	if bound := before + size*number*3/4; most > bound {
		t.Errorf("%d MB are in memory while %d MB are read, %d MB before", most>>20, number*size>>20, before>>20)
	}
}

func appendSized(t *testing.T, l *Log, seq uint64, size int) {
	t.Helper()
	if err := l.Append(&frame.Frame{First: seq, Last: seq, Count: 1, Payload: list(seq, size)}); err != nil {
		t.Fatal(err)
	}
}
