package log

import (
	"errors"
	"strings"
	"testing"

	"github.com/quill-grid/quill/pkg/document"
	"github.com/quill-grid/quill/pkg/frame"
	"github.com/quill-grid/quill/pkg/history"
	"github.com/quill-grid/quill/pkg/opt/opttest"
)

// TestCheckOf checks that the document of a damaged log matches its schema, and says so.
func TestCheckOf(t *testing.T) {
	damage := &frame.Damage{Reason: "frame 7 is cut off"}
	broken := []history.StateCheck{{Mark: history.Mark{Seq: 3}, Name: "3.state", Err: errors.New("it is cut off")}}
	for _, c := range []struct {
		name  string
		check history.Check
		good  bool
		has   string
	}{
		{"nothing", history.Check{}, true, `"states": []`},
		{"good", history.Check{First: history.Mark{Seq: 1, At: 1000}, Last: history.Mark{Seq: 9, At: 2000}, Lists: 9}, true,
			`"last": {"seq":9,"time":"1970-01-01T00:00:02Z"}`},
		{"damaged", history.Check{Lists: 6, Damage: damage, Beyond: []history.Mark{{Seq: 12}}}, false,
			`"damage": "frame 7 is cut off",`},
		{"state", history.Check{Lists: 6, States: broken}, false, `{"seq":3,"name":"3.state","error":"it is cut off"}`},
	} {
		var out strings.Builder
		d := checkOf(c.check, history.About{}, nil)
		if err := document.Write(&out, d); err != nil {
			t.Fatal(err)
		}
		if err := opttest.CheckDocument(out.String()); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
		if d.Good != c.good || !strings.Contains(out.String(), c.has) {
			t.Errorf("%s: %s", c.name, out.String())
		}
	}
}
