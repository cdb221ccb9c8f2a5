package bus

import (
	"regexp"
	"sync/atomic"
	"testing"

	"github.com/quill-grid/quill/pkg/bus/bustest"
	"github.com/quill-grid/quill/pkg/frame"
)

// TestReplicaLags: a stream is read from one of its replicas, which may have been away and say that a message is the last one
// while the leader has more. Its words are put into the server's mouth: at message 5, and when it is asked for the next ones.
func TestReplicaLags(t *testing.T) {
	o := elsewhere(t, qmaster)[0]
	last := regexp.MustCompile(`\$JS\.ACK\.\S*GE_EVENTS\.\S+\.\d+\.5\.\d+\.\d{19}\.(6)`)
	none := regexp.MustCompile(`"num_pending":(6)`)
	var changed atomic.Int32
	changed.Store(-1)
	o.URL = bustest.NewWayWith(t, o.URL, func(b []byte) {
		for i, words := range []*regexp.Regexp{last, none} {
			if at := words.FindSubmatchIndex(b); at != nil && changed.CompareAndSwap(int32(i), int32(i+1)) {
				b[at[2]] = '0'
			}
		}
	}).URL
	c, err := Connect(o)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	l := own(t, c)
	for seq := range uint64(10) {
		appendLists(t, l, seq+1, seq+1)
	}
	changed.Store(0)
	seen, end, err := readAll(t, l, frame.Point{})
	if err != nil || len(seen) != 11 || end.Seq != 10 {
		t.Errorf("%v up to list %d: %v", seen, end.Seq, err)
	}
	if n := changed.Load(); n != 2 {
		t.Errorf("%d words were changed", n)
	}
}
