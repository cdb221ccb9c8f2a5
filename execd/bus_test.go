package execd

import (
	"bytes"
	"io"
	"net"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"

	"github.com/hashicorp/go-hclog"

	"github.com/quill-grid/quill/pkg/bus"
)

// A connection that is lost before the server has execd's subscription is made anew.
func TestDialLostAtOnce(t *testing.T) {
	dir := t.TempDir()
	server, way := filepath.Join(dir, "server"), filepath.Join(dir, "way")
	srv, err := bus.Start(bus.ServerOptions{Dir: dir, Socket: server, AdminUID: uint32(os.Getuid())})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(srv.Stop)
	door, err := net.Listen("unix", way)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { door.Close() })
	var came atomic.Int32
	go func() {
		for {
			in, err := door.Accept()
			if err != nil {
				return
			}
			first := came.Add(1) == 1
			out, err := net.Dial("unix", server)
			if err != nil {
				in.Close()
				continue
			}
			go func() { io.Copy(in, out); in.Close() }()
			go func() { io.Copy(out, &cut{in, first}); out.Close(); in.Close() }()
		}
	}()
	l, err := Dial(t.Context(), bus.ConnOptions{Identity: bus.Identity{Role: bus.Host, Name: "node1"}, Socket: way},
		hclog.NewNullLogger())
	if err != nil {
		t.Fatal(err)
	}
	l.Close()
	if n := came.Load(); n < 2 {
		t.Errorf("%d connections: the first was not lost", n)
	}
}

// cut is a way that ends where a subscription would pass it.
type cut struct {
	net.Conn
	armed bool
}

func (c *cut) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if c.armed && bytes.Contains(p[:n], []byte("SUB ")) {
		return 0, io.EOF
	}
	return n, err
}
