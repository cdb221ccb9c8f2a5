package core

import (
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/grid"
)

// TestCommandIsTheClientsWord: what a request calls its command makes no line of its own in the log's texts, no cause
// of a daemon, and decides nothing.
func TestCommandIsTheClientsWord(t *testing.T) {
	h := &harness{t: t, now: 1_700_000_000_000}
	h.cell(&datadriven.TestData{CmdArgs: []datadriven.CmdArg{{Key: "hosts", Vals: []string{"h1"}}}})
	ask := func(command string, b gdi.Body) (Ready, gdi.Reply) {
		h.ref++
		r := h.core.Step(h.now,
			UserRequest{
				Ref: h.ref, Request: gdi.Request{User: "root", UID: 1000, GID: 1000, Host: "m", Command: command, Body: b}})
		return r, *r.Answers[0].Reply
	}
	for _, command := range []string{"qsub\nbob@m qdel", "x\x1b[2J", strings.Repeat("long", 1000), "orders", "timer",
		"return", "report", "install"} {
		r, _ := ask(command, &gdi.Submit{Job: &grid.Job{Name: "x"}})
		if what := r.List.Cause.What; len(what) > 64 || strings.ContainsAny(what, "\n\t\x1b") || what == "orders" ||
			what == "timer" || what == "return" || what == "report" || what == "install" {
			t.Errorf("%.20q: cause %q", command, what)
		}
	}
	limited := grid.DefaultConf()
	limited.Entries = append(limited.Entries, grid.Value{Name: "max_advance_reservations", Text: "1"})
	for i, command := range []string{"qrsub", "qrdel", "qrsub"} {
		if i == 0 {
			if _, reply := ask("qconf", &gdi.Modify{Objects: []grid.Object{limited}}); !reply.OK() {
				t.Fatal(reply)
			}
		}
		if _, reply := ask(command, &gdi.Reserve{AR: &grid.AR{Duration: 100}}); reply.OK() != (i == 0) {
			t.Errorf("reservation %d by %q: %v", i, command, reply.Answers)
		}
	}
	for _, r := range []gdi.Request{{ID: strings.Repeat("x", 257)}, {ID: "a\nb"}, {Host: "m\nbob"}, {Host: "m@bob"},
		{Host: strings.Repeat("h", 257)}} {
		r.User, r.Body = "root", &gdi.Submit{Job: &grid.Job{Name: "x"}}
		if out := h.core.Step(h.now, UserRequest{Ref: 1, Request: r}); out.Answers[0].Reply.OK() || len(out.List.Events) > 0 {
			t.Errorf("%.20q %.20q: %v", r.ID, r.Host, out.Answers[0].Reply)
		}
	}
}
