package embedded

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"github.com/quill-grid/quill/pkg/bus"
)

// A server that got no processor for a millisecond says that it has not started: it is asked again. What it says of its
// store counts at once.
func TestHealth(t *testing.T) {
	unready := []server.HealthzError{
		{Type: server.HealthzErrorConn, Error: "failed to be ready for connections after 1ms: "}}
	broken := []server.HealthzError{{Type: server.HealthzErrorStream, Error: "stream GE_EVENTS could not be found"},
		{Type: server.HealthzErrorJetStream, Error: "no space"}}
	leaving := []server.HealthzError{{Type: server.HealthzErrorStream, Stream: ".GE_EVENTS",
		Error: "JetStream stream '$G > .GE_EVENTS' could not be recovered"}}
	for _, c := range []struct {
		answers [][]server.HealthzError
		asked   int
		want    error
	}{
		{answers: [][]server.HealthzError{nil, broken}, asked: 1},
		{answers: [][]server.HealthzError{unready, unready, nil}, asked: 3},
		{answers: [][]server.HealthzError{leaving}, asked: 1},
		{answers: [][]server.HealthzError{slices.Concat(leaving, broken)}, asked: 1,
			want: fmt.Errorf("store is not healthy: stream GE_EVENTS could not be found\nno space")},
		{answers: [][]server.HealthzError{broken, nil}, asked: 1,
			want: fmt.Errorf("store is not healthy: stream GE_EVENTS could not be found\nno space")},
		{answers: [][]server.HealthzError{unready, broken}, asked: 2,
			want: fmt.Errorf("store is not healthy: stream GE_EVENTS could not be found\nno space")},
	} {
		asked := 0
		err := awaitHealth(func(*server.HealthzOptions) *server.HealthStatus {
			asked++
			return &server.HealthStatus{Errors: c.answers[asked-1]}
		})
		if fmt.Sprint(err) != fmt.Sprint(c.want) || asked != c.asked {
			t.Errorf("asked %d times: %v, want %d times: %v", asked, err, c.asked, c.want)
		}
	}
}

// A server that ended before it had removed the files of a deleted stream removes the rest when it starts again, and is
// healthy.
func TestStartAfterDelete(t *testing.T) {
	dir := t.TempDir()
	deleted := filepath.Join(dir, "jetstream/$G/streams/.GE_EVENTS/msgs")
	if err := os.MkdirAll(deleted, 0o700); err != nil {
		t.Fatal(err)
	}
	for i := range 10_000 { // more than are gone when the server has started
		if err := os.WriteFile(filepath.Join(deleted, fmt.Sprint(i, ".blk")), []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s, err := bus.Start(bus.ServerOptions{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	s.Stop()
}

// The server does not close a connection that has sent nothing for 3 s. Its default is 2 s, after which a qmaster that
// got no processor could not start.
func TestSlowClient(t *testing.T) {
	t.Parallel()
	e,
		err := startServer(bus.EngineOptions{Dir: t.TempDir(), Connections: 10,
		Authenticate: func(string) (bus.Identity, bool) { return bus.Identity{}, false }})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Stop()
	c, err := e.InProcessConn()
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	c.SetDeadline(time.Now().Add(3 * time.Second))
	in := bufio.NewReader(c)
	if line, err := in.ReadString('\n'); err != nil {
		t.Fatal(line, err)
	}
	if line, err := in.ReadString('\n'); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("%q, %v", line, err)
	}
}
