package core

import (
	"fmt"
	"strings"

	"github.com/cockroachdb/datadriven"
	"github.com/quill-grid/quill/pkg/codec"
	"github.com/quill-grid/quill/pkg/gdi"
)

// proposal proposes a request instead of sending it: propose=AGENT.
func (h *harness) proposal(d *datadriven.TestData, b gdi.Body) *gdi.Propose {
	p := &gdi.Propose{Changes: [][]byte{codec.AppendBody(nil, b)}}
	d.ScanArgs(h.t, "propose", &p.Agent)
	p.Agent = unquoted(p.Agent)
	d.MaybeScanArgs(h.t, "reason", &p.Reason)
	p.Reason = unquoted(p.Reason)
	seconds := 0
	d.MaybeScanArgs(h.t, "life", &seconds)
	p.Seconds = float64(seconds)
	return p
}

func (h *harness) decide(d *datadriven.TestData) string {
	b := &gdi.Decide{}
	what := ""
	d.ScanArgs(h.t, "n", &b.Proposal)
	d.ScanArgs(h.t, "what", &what)
	b.Decision = gdi.Decision(what)
	return h.step(h.request(d, "quill-"+what, b))
}

func (h *harness) proposals() string {
	var b strings.Builder
	for _, p := range h.core.state.Proposals() {
		fmt.Fprintf(&b, "%d %s, proposed by %s", p.ID, p.Status, p.Proposer())
		if p.Decided.By != "" {
			fmt.Fprintf(&b, ", decided by %s", p.Decided.By)
		}
		fmt.Fprintf(&b, "\n%s", p.Text)
	}
	return b.String()
}
