package qmaster

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/quill-grid/quill/pkg/bus"
	"github.com/quill-grid/quill/pkg/cell"
	"github.com/quill-grid/quill/pkg/codec"
	"github.com/quill-grid/quill/pkg/gdi"
)

// greet connects to the socket of the cell as pkg/bus does, and sends nothing more.
func greet(t *testing.T, cell cell.Cell, role string) (c net.Conn, pass string) {
	t.Helper()
	c, err := net.Dial("unix", cell.Socket())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	c.Write(append(binary.BigEndian.AppendUint16(nil, uint16(len(role))), role...))
	var head [3]byte
	if _, err := io.ReadFull(c, head[:]); err != nil || head[0] != 1 {
		t.Fatalf("%q: %v", head, err)
	}
	word := make([]byte, binary.BigEndian.Uint16(head[1:]))
	if _, err := io.ReadFull(c, word); err != nil {
		t.Fatal(err)
	}
	return c, string(word)
}

// deafListener subscribes to everything that happens and reads none of it.
func deafListener(t *testing.T, cell cell.Cell) {
	c, pass := greet(t, cell, "admin deaf")
	_, token, _ := strings.Cut(pass, " ")
	fmt.Fprintf(c, "CONNECT {\"auth_token\":%q,\"verbose\":false}\r\nSUB %s 1\r\nPING\r\n", token, bus.FeedSubject())
	for in := bufio.NewReader(c); ; {
		line, err := in.ReadString('\n')
		if err != nil || strings.HasPrefix(line, "-ERR") {
			t.Fatalf("%q %v", line, err)
		}
		if line == "PONG\r\n" {
			return
		}
	}
}

// deafAsker asks and asks, and reads no answer, until the cell takes no more from it.
func deafAsker(t *testing.T, cell cell.Cell) {
	c, _ := greet(t, cell, "ask user ")
	request := codec.AppendRequest(nil, gdi.Request{Body: &gdi.Submit{Job: aJob("x")}})
	m := binary.BigEndian.AppendUint32(nil, uint32(8+1+3+len(request)))
	m = binary.BigEndian.AppendUint64(m, 7)
	m = append(append(append(m, 3), "add"...), request...)
	go func() {
		for {
			if _, err := c.Write(m); err != nil {
				return
			}
		}
	}()
}

// A client that does not read what it is sent, be it answers or what happens in the cell,
// stops no other, not even for a while.
func TestDeafClients(t *testing.T) {
	for _, deaf := range []struct {
		name  string
		begin func(*testing.T, cell.Cell)
	}{{"listener", deafListener}, {"asker", deafAsker}} {
		t.Run(deaf.name, func(t *testing.T) {
			cell := newCell(t)
			q := start(t, Options{Cell: cell})
			t.Cleanup(func() { stop(t, q) })
			c := connect(t, cell)
			deaf.begin(t, cell)
			longest, begun := time.Duration(0), time.Now()
			big := aJob("big")
			// every listener is sent them: the buffers of a socket are soon full
			big.Spec.Args = []string{strings.Repeat("x", 30_000)}
			for range 300 {
				last := time.Now()
				if reply, err := c.Do(t.Context(), "qsub", &gdi.Submit{Job: big}); err != nil || !reply.OK() {
					t.Fatal(reply, err)
				}
				longest = max(longest, time.Since(last))
			}
			t.Logf("300 submits took %s, the longest %s", time.Since(begun).Round(time.Millisecond),
				longest.Round(time.Millisecond))
			if longest > 5*time.Second {
				t.Error("somebody who does not read has held up the cell")
			}
		})
	}
}
