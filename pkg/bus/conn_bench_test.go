package bus

import (
	"context"
	"path/filepath"
	"testing"
)

// BenchmarkVisit is what a short command costs the cell: connect over the Unix
// socket, one request, close.
func BenchmarkVisit(b *testing.B) {
	path := filepath.Join(b.TempDir(), "sock")
	s := startServer(b, ServerOptions{Socket: path})
	answering(b, s)
	b.ReportAllocs()
	for b.Loop() {
		c, err := Connect(ConnOptions{Socket: path})
		if err != nil {
			b.Fatal(err)
		}
		if _, err := c.Request(context.Background(), CmdSubject(c.id, "x"), nil); err != nil {
			b.Fatal(err)
		}
		c.Close()
	}
}

// BenchmarkRequest is one request and answer over each way in.
func BenchmarkRequest(b *testing.B) {
	path := filepath.Join(b.TempDir(), "sock")
	s := startServer(b, ServerOptions{Socket: path})
	answering(b, s)
	over, err := Connect(ConnOptions{Socket: path})
	if err != nil {
		b.Fatal(err)
	}
	defer over.Close()
	for name, c := range map[string]*Conn{"socket": over, "inside": inside(b, s, alice)} {
		b.Run(name, func(b *testing.B) {
			data := make([]byte, 1000)
			for b.Loop() {
				if _, err := c.Request(context.Background(), CmdSubject(c.id, "x"), data); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func answering(b *testing.B, s *Server) {
	if _, err := inside(b, s, qmaster).Serve(AllCmd, func(r *Request) { r.Answer(r.Data) }); err != nil {
		b.Fatal(err)
	}
}

// BenchmarkStream is a big answer over the Unix socket: 40 MB, as a list of a
// hundred thousand jobs may have.
func BenchmarkStream(b *testing.B) {
	path := filepath.Join(b.TempDir(), "sock")
	s := startServer(b, ServerOptions{Socket: path})
	const chunks, size = 320, 128 << 10
	if _, err := inside(b, s, qmaster).Serve(AllCmd, func(r *Request) {
		go func() {
			a, err := r.OpenAnswerStream()
			if err != nil {
				b.Error(err)
				return
			}
			chunk := make([]byte, size)
			for range chunks {
				if err := a.Send(context.Background(), chunk); err != nil {
					b.Error(err)
				}
			}
			a.End(nil)
		}()
	}); err != nil {
		b.Fatal(err)
	}
	c, err := Connect(ConnOptions{Socket: path})
	if err != nil {
		b.Fatal(err)
	}
	defer c.Close()
	b.SetBytes(chunks * size)
	for b.Loop() {
		if _, err := c.RequestStream(context.Background(), CmdSubject(c.id, "x"), nil,
			func([]byte) error { return nil }); err != nil {
			b.Fatal(err)
		}
	}
}
