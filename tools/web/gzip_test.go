package web

import (
	"compress/gzip"
	"io"
	"net/http"
	"strings"
	"testing"
)

func TestAcceptsGzip(t *testing.T) {
	for accept, want := range map[string]bool{
		"": false, "gzip": true, "br, GZIP": true, "gzip;q=0.5, identity;q=0.1": true, "gzip;q=0.5, identity": false,
		"gzip; q=1.0": true, "gzip;q=0": false, "gzip; q=0.000": false, "identity": false, "gzipped": false,
	} {
		if got := acceptsGzip(accept); got != want {
			t.Errorf("Accept-Encoding: %s: %v", accept, got)
		}
	}
}

// TestCompressedStream: who accepts gzip gets the same stream in it, up to its end and sum; who does not gets text.
func TestCompressedStream(t *testing.T) {
	c := newCell(t, 3)
	server := c.serve()
	get := func(accept, mime string) (encoding, text string) {
		r, err := http.NewRequest("GET", server.URL+"/v1/events?from=2&to=3", nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header = as("alice")
		r.Header.Set("Accept", mime)
		r.Header.Set("Accept-Encoding", accept) // so the transport leaves the body as it is
		a, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer a.Body.Close()
		var body io.Reader = a.Body
		if encoding = a.Header.Get("Content-Encoding"); encoding == "gzip" {
			if body, err = gzip.NewReader(body); err != nil {
				t.Fatal(err)
			}
		}
		all, err := io.ReadAll(body)
		if err != nil {
			t.Fatalf("%s: after %q: %v", accept, all, err)
		}
		if vary := a.Header.Get("Vary"); !strings.Contains(vary, "Accept-Encoding") {
			t.Errorf("Vary: %s", vary)
		}
		return encoding, string(all)
	}
	for _, mime := range []string{typeEvents, typeNDJSON} {
		plainEncoding, plain := get("identity", mime)
		zippedEncoding, zipped := get("gzip", mime)
		if plainEncoding != "" || zippedEncoding != "gzip" || plain != zipped || !strings.Contains(plain, endTo) {
			t.Errorf("%s: as %q:\n%s\nas %q:\n%s", mime, plainEncoding, plain, zippedEncoding, zipped)
		}
	}
}
