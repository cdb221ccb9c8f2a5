package core

import (
	"fmt"
	"strings"

	"github.com/cockroachdb/datadriven"
	"github.com/quill-grid/quill/pkg/gdi"
)

// logIn logs in with an ID token that the shell has verified: of an issuer and a subject, with a claim and for some
// seconds. Its number is that of the ID token; without one it was not verified.
func (h *harness) logIn(d *datadriven.TestData) string {
	n, id, subject, name, issuer, life := byte(0), "", "5f3c", "", "https://id.example.org", 300
	d.MaybeScanArgs(h.t, "digest", &n)
	d.MaybeScanArgs(h.t, "jwt", &id)
	d.MaybeScanArgs(h.t, "subject", &subject)
	d.MaybeScanArgs(h.t, "name", &name)
	d.MaybeScanArgs(h.t, "issuer", &issuer)
	d.MaybeScanArgs(h.t, "life", &life)
	b := &gdi.LogIn{}
	if n > 0 {
		b.Digest = digest(n)
	}
	in := h.request(d, "quill-login", b)
	if in.User = ""; id != "" {
		in.Proof = &Proof{Issuer: issuer, Client: "quill", Subject: unquoted(subject), Name: unquoted(name), ID: id,
			Expires: h.now.Add(float64(life))}
	}
	return h.step(in)
}

// ways prints how users log in.
func (h *harness) ways(d *datadriven.TestData) string {
	r := h.core.Step(h.now, h.request(d, "quill-login", &gdi.WaysToLogIn{}))
	return fmt.Sprintf("%+v\n", r.Answers[0].Reply.Ways)
}

// logins prints the ID tokens that were used.
func (h *harness) logins() string {
	var b strings.Builder
	for _, l := range h.core.state.Logins() {
		fmt.Fprintf(&b, "%s for token %d, until %.0f s from now\n", l.ID, l.Token, l.Expires.Sub(h.now))
	}
	return b.String()
}
