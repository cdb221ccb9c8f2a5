package bus

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/quill-grid/quill/pkg/fair"
)

// TestWriteBuffer: what a user subscribes to and does not read takes bounded memory, whatever
// number of connections and subscriptions there are; connections of the same user that
// read are served.
func TestWriteBuffer(t *testing.T) {
	dir := t.TempDir()
	socket, keys := filepath.Join(dir, "sock"), filepath.Join(dir, "keys")
	s := startServer(t, ServerOptions{Socket: socket, Listen: "127.0.0.1:0", Keys: keys})
	s.socket.distrustAll.Store(true)
	owner := inside(t, s, qmaster)
	if _, err := owner.Serve(AllCmd, func(r *Request) { r.Answer(r.Data) }); err != nil {
		t.Fatal(err)
	}
	for _, way := range []ConnOptions{{Socket: socket}, {URL: s.URL(), Seed: issue(t, keys, alice), Identity: alice}} {
		reader, err := Connect(way)
		if err != nil {
			t.Fatal(err)
		}
		who := reader.id.FairUser()
		inbox := reader.id.inbox()
		backlog := func() int {
			s.bounds.unread.mu.Lock()
			defer s.bounds.unread.mu.Unlock()
			return s.bounds.unread.of[who]
		}
		var silent []*muted
		for range 10 {
			c, _ := natsHalf(t, way)
			t.Cleanup(func() { c.Close() })
			c.mute.Store(true)
			for i := range 4 {
				if _, err := fmt.Fprintf(c, "SUB %s.> %d\r\n", inbox, 100+i); err != nil {
					t.Fatal(err)
				}
			}
			silent = append(silent, c)
		}
		most := 0
		for range 10 { // 1 MB to 10 connections, 4 times each
			if _, err := reader.Ask(soon(t), "what", make([]byte, 1<<20)); err != nil {
				t.Errorf("a connection that reads: %v", err)
			}
			most = max(most, backlog())
		}
		if slack := unreadUserMax/natsUserMax*10 + 4<<20; most == 0 || most > unreadUserMax+slack {
			t.Errorf("%d MB of answers wait, at most %d MB should", most>>20, unreadUserMax>>20)
		}
		for _, c := range silent { // they are closed
			io.Copy(io.Discard, c.Conn)
		}
		reader.Close()
		for backlog() > 0 {
			runtime.Gosched()
		}
	}
}

// TestBacklogGrows: a backlog that grows to its bound is not copied again and again.
func TestBacklogGrows(t *testing.T) {
	all := &newMemoryBounds(0).unread
	u := all.newWriteBuffer(fair.User{Name: "alice"})
	piece := make([]byte, bridgeBytesMax)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range all.maxOfConn() / len(piece) {
		if !u.enqueue(piece) {
			t.Fatal("too much waits")
		}
	}
	runtime.ReadMemStats(&after)
	if bytes, most := after.TotalAlloc-before.TotalAlloc, uint64(all.maxOfConn()); bytes > most*5/4 {
		t.Errorf("%d MB allocated for a backlog of %d MB", bytes>>20, most>>20)
	}
	if u.enqueue(piece) {
		t.Error("a backlog beyond its bound is taken")
	}
}

// TestBacklogIsWritten: what was put in pieces of all lengths comes as it was put.
func TestBacklogIsWritten(t *testing.T) {
	all := &newMemoryBounds(0).unread
	u := all.newWriteBuffer(fair.User{Name: "alice"})
	client, from := net.Pipe()
	random := rand.New(rand.NewPCG(1, 2))
	var want []byte
	source, feed := io.Pipe()
	go func() {
		u.relayTo(from, source)
		from.Close()
	}()
	go func() {
		for range 300 {
			piece := make([]byte, random.IntN(3*bridgeBytesMax))
			for i := range piece {
				piece[i] = byte(random.Uint32())
			}
			want = append(want, piece...)
			feed.Write(piece)
		}
		feed.Close()
	}()
	got, err := io.ReadAll(client)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%d bytes came of %d, or others", len(got), len(want))
	}
}
