package attack

import (
	"strings"
	"testing"
	"time"

	"github.com/quill-grid/quill/pkg/bus"
	"github.com/quill-grid/quill/pkg/document"
	"github.com/quill-grid/quill/pkg/opt/opttest"
	"github.com/quill-grid/quill/tools/attack/attacker"
)

// TestReport checks that the document of a report matches its schema and says the same as the text: that a bar was
// missed, and that one which is a time is not judged when times are not.
func TestReport(t *testing.T) {
	slow := &field{attack: attacker.Attacks[0], role: bus.User, done: 7, refused: 2, breaches: []string{"a secret"}}
	slow.alone.qsub = quantiles{n: 1, p50: time.Second, p99: time.Second, max: time.Second}
	slowly := map[string]quantiles{qsubService: {p99: time.Minute}}
	for _, c := range []struct {
		name string
		r    outcome
		held bool
	}{
		{"held", outcome{fields: []*field{{attack: attacker.Attacks[0], role: bus.Host, done: 1}}}, true},
		{"could do nothing", outcome{fields: []*field{{attack: attacker.Attacks[0], role: bus.Host, failed: "no key"}}},
			false},
		{"did nothing", outcome{fields: []*field{{attack: attacker.Attacks[0], role: bus.Host}}}, false},
		{"did nothing, times are not judged", outcome{fields: []*field{{attack: attacker.Attacks[0], role: bus.Host}},
			untimed: true}, true},
		{"breach", outcome{fields: []*field{slow}}, false},
		{"crash", outcome{crashes: []string{"qmaster"}}, false},
		{"slow", outcome{during: slowly}, false},
		{"slow, times are not judged", outcome{during: slowly, untimed: true}, true},
	} {
		var text, json strings.Builder
		d := c.r.document()
		if err := document.Write(&json, d); err != nil {
			t.Fatal(err)
		}
		if err := opttest.CheckDocument(json.String()); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
		if held := c.r.print(&text); held != c.held || d.Held != c.held {
			t.Errorf("%s: held is %v in the text and %v in the document", c.name, held, d.Held)
		}
	}
}
