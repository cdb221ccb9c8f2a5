package web

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/grid"
)

// TestCompressedAnswers: who accepts gzip gets the same answer in it, with the same ETag; who does not gets text.
func TestCompressedAnswers(t *testing.T) {
	c := newCell(t, 3)
	for _, one := range []struct{ target, accept string }{{"/v1/hosts", typeJSON}, {"/v1/hosts", typeNDJSON},
		{"/v1/kinds/cqueue", typeJSON}} {
		header := as("root")
		header.Set("Accept", one.accept)
		plain := c.request("GET", one.target, "", header)
		header.Set("Accept-Encoding", "gzip")
		zipped := c.request("GET", one.target, "", header)
		z, err := gzip.NewReader(zipped.Body)
		if err != nil {
			t.Errorf("%s as %s: %v", one.target, one.accept, err)
			continue
		}
		text, err := io.ReadAll(z)
		if err != nil || string(text) != plain.Body.String() || len(text) == 0 {
			t.Errorf("%s as %s: %v, after %s", one.target, one.accept, err, text)
		}
		for _, a := range []http.Header{plain.Header(), zipped.Header()} {
			if a.Get("Vary") != "Accept, Accept-Encoding" || a.Get("Etag") != plain.Header().Get("Etag") {
				t.Errorf("%s as %s: %v", one.target, one.accept, a)
			}
		}
	}
}

// TestETag: the tag of an answer changes when the answer does, and not with other events.
func TestETag(t *testing.T) {
	c := newCell(t, 1)
	first := c.request("GET", "/v1/hosts", "", as("alice")).Header().Get("Etag")
	header := as("alice")
	header.Set("If-None-Match", `"other", `+first)
	c.submit("alice", "-b", "y", "true")
	if w := c.request("GET", "/v1/hosts", "", header); w.Code != http.StatusNotModified || w.Body.Len() > 0 ||
		w.Header().Get("Etag") != first {
		t.Errorf("after another event: %d %v", w.Code, w.Header())
	}
	c.ask("root", "", &gdi.Add{Objects: []grid.Object{grid.Default(grid.KindExecHost, "h9")}})
	if w := c.request("GET", "/v1/hosts", "", header); w.Code != http.StatusOK || w.Header().Get("Etag") == first {
		t.Errorf("after a change of a host: %d %v", w.Code, w.Header())
	}
}

// TestNotAcceptable: a client that takes none of the types of an answer gets a problem, else the one that it prefers.
func TestNotAcceptable(t *testing.T) {
	c := newCell(t, 1)
	for accept, want := range map[string]string{
		"": typeJSON, "*/*": typeJSON, "application/*": typeJSON, "text/html, */*;q=0.1": typeJSON,
		typeNDJSON: typeNDJSON, typeJSON + ";q=0.5, " + typeNDJSON: typeNDJSON, typeNDJSON + ";q=0.5, " + typeJSON: typeJSON,
		"text/html": "", "application/xml, " + typeJSON + ";q=0": "", "*/*;q=0": "",
	} {
		header := as("alice")
		header.Set("Accept", accept)
		w := c.request("GET", "/v1/hosts", "", header)
		if got := w.Header().Get("Content-Type"); got != want && !(want == "" && w.Code == http.StatusNotAcceptable) {
			t.Errorf("Accept: %s: %d %s", accept, w.Code, got)
		}
	}
	header := as("alice")
	header.Set("Accept", "text/html")
	for _, target := range []string{"/v1/cell", "/v1/events?from=1&to=1", "/v1/proposals", "/v1/session"} {
		if w := c.request("GET", target, "", header); w.Code != http.StatusNotAcceptable {
			t.Errorf("%s: %d", target, w.Code)
		}
	}
}

// TestNoNull: no answer has null, of no route, in a cell without anything nor in one with a job.
func TestNoNull(t *testing.T) {
	c := newCell(t, 0)
	_, kinds := configKinds()
	for range 2 {
		read := 0
		for path, p := range c.server.api.OpenAPI().Paths {
			if p.Get == nil || strings.HasSuffix(path, "/events") {
				continue
			}
			targets := []string{strings.ReplaceAll(path, "{id}", "1")}
			if strings.Contains(path, "{kind}") {
				targets = nil
				for kind, spec := range kinds {
					c.c.Core.State().Each(spec.Kind, func(o grid.Object) bool {
						targets = append(targets, strings.NewReplacer("{kind}", kind, "{name}", o.Key().Name).Replace(path))
						return true
					})
				}
			}
			for _, target := range targets {
				w := c.request("GET", target, "", as("root"))
				text := bytes.TrimSpace(w.Body.Bytes())
				var v any
				if json.Unmarshal(text, &v) == nil && hasNull(v) {
					t.Errorf("%s: %s", target, text)
				}
				read++
			}
		}
		if read < 20 {
			t.Errorf("%d answers", read)
		}
		c.submit("alice", "-b", "y", "true")
		c.ask("root", "", &gdi.Add{Objects: []grid.Object{&grid.Project{Name: "p"}, &grid.Userset{Name: "u"},
			grid.Default(grid.KindExecHost, "h1")}})
	}
}

func hasNull(v any) bool {
	switch v := v.(type) {
	case nil:
		return true
	case []any:
		for _, e := range v {
			if hasNull(e) {
				return true
			}
		}
	case map[string]any:
		for _, e := range v {
			if hasNull(e) {
				return true
			}
		}
	}
	return false
}
