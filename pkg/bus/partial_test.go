package bus

import (
	"bytes"
	"context"
	"encoding/binary"
	"runtime"
	"sync/atomic"
	"testing"
	"time"
)

// TestHalfSentRequests: large requests that are never sent to their end take bounded
// memory, whatever number of lines has one. Their lines are closed, and a large request
// that is complete is answered afterwards.
func TestHalfSentRequests(t *testing.T) {
	usual := partialWait
	t.Cleanup(func() { partialWait = usual }) // after the server has ended
	partialWait = 500 * time.Millisecond
	s, socket, _ := desked(t, func(r *Request) { r.Answer(r.Data) })
	half := binary.BigEndian.AppendUint32(nil, 8+1+3+PayloadMax)
	half = append(append(half, make([]byte, 8)...), "\x03add"...)
	half = append(half, make([]byte, PayloadMax/2)...)
	held := func() int {
		s.desk.partial.mu.Lock()
		defer s.desk.partial.mu.Unlock()
		return s.desk.partial.all
	}
	const lines = 20
	var closed atomic.Int32
	for range lines {
		c, _, err := knock(socket, askPrefix, Identity{})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { c.Close() })
		go c.Write(half)
		go func() {
			if n, err := c.Read(make([]byte, 1)); n > 0 || err == nil {
				t.Error("half a request is answered")
			}
			closed.Add(1)
		}()
	}
	most := 0
	for closed.Load() < lines {
		most = max(most, held())
		runtime.Gosched()
	}
	if most == 0 || most > partialUserMax {
		t.Errorf("%d bytes of half requests were held, at most %d are allowed", most, partialUserMax)
	}
	for left := held(); left > 0; left = held() { // the line is closed a moment later
		runtime.Gosched()
	}
	data := bytes.Repeat([]byte("0123456789abcdef"), PayloadMax/2/16)
	line := openLine(t, socket)
	for range 3 {
		if answer, err := line.Ask(context.Background(), "add", data); err != nil || !bytes.Equal(answer, data) {
			t.Errorf("a request of %d bytes is answered with %d: %v", len(data), len(answer), err)
		}
	}
	if left := held(); left != 0 {
		t.Errorf("%d bytes are held when no request is under way", left)
	}
}
