package embedded

import (
	"fmt"
	"testing"

	"github.com/nats-io/nats-server/v2/server"
)

// A server that got no processor for a millisecond says that it has not started: it is asked again. What it says of its store counts at once.
func TestHealth(t *testing.T) {
	unready := []server.HealthzError{{Type: server.HealthzErrorConn, Error: "failed to be ready for connections after 1ms: "}}
	broken := []server.HealthzError{{Type: server.HealthzErrorStream, Error: "stream GE_EVENTS could not be found"}, {Type: server.HealthzErrorJetStream, Error: "no space"}}
	for _, c := range []struct {
		answers [][]server.HealthzError
		asked   int
		want    error
	}{
		{answers: [][]server.HealthzError{nil, broken}, asked: 1},
		{answers: [][]server.HealthzError{unready, unready, nil}, asked: 3},
		{answers: [][]server.HealthzError{broken, nil}, asked: 1, want: fmt.Errorf("store is not healthy: stream GE_EVENTS could not be found\nno space")},
		{answers: [][]server.HealthzError{unready, broken}, asked: 2, want: fmt.Errorf("store is not healthy: stream GE_EVENTS could not be found\nno space")},
	} {
		asked := 0
		err := health(func(*server.HealthzOptions) *server.HealthStatus {
			asked++
			return &server.HealthStatus{Errors: c.answers[asked-1]}
		})
		if fmt.Sprint(err) != fmt.Sprint(c.want) || asked != c.asked {
			t.Errorf("asked %d times: %v, want %d times: %v", asked, err, c.asked, c.want)
		}
	}
}
