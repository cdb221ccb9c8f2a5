package bus

import (
	"fmt"
	"testing"
)

// A message that no client receives comes back as its number, and no other.
func TestPosterTellsOfWhatNobodyReceived(t *testing.T) {
	server := startServer(t, ServerOptions{})
	sender, host := inside(t, server, qmaster), inside(t, server, Identity{Role: Host, Name: "h1"})
	back, got := make(chan string, 3), make(chan []byte, 1)
	p, err := sender.NewPoster(func(subject string, number uint64) { back <- fmt.Sprint(subject, " ", number) })
	if err != nil {
		t.Fatal(err)
	}
	post := func(number uint64) {
		if err := p.Post(HostCmdSubject("h1"), number, []byte("x")); err != nil {
			t.Fatal(err)
		}
	}
	post(1)
	if at, want := <-back, HostCmdSubject("h1")+" 1"; at != want {
		t.Errorf("%s came back, want %s", at, want)
	}
	stop, err := host.Serve(HostCmdSubject("h1"), func(r *Request) { got <- r.Data })
	if err != nil {
		t.Fatal(err)
	}
	post(2)
	<-got
	stop()
	post(3)
	if at, want := <-back, HostCmdSubject("h1")+" 3"; at != want {
		t.Errorf("%s came back, want %s", at, want)
	}
}
