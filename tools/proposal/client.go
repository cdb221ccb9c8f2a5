package proposal

import (
	"context"
	"errors"

	"github.com/quill-grid/quill/pkg/client"
	"github.com/quill-grid/quill/pkg/codec"
	"github.com/quill-grid/quill/pkg/gdi"
)

// Proposing returns a Client that proposes what it is to change, and sends all other requests as they are. about is
// what the proposal says of itself.
func Proposing(c client.Client, about gdi.Propose) client.Client { return proposing{c, about} }

type proposing struct {
	client.Client
	about gdi.Propose
}

// Do implements client.Client.
func (p proposing) Do(ctx context.Context, command string, body gdi.Body) (gdi.Reply, error) {
	if !gdi.Proposable(body) {
		switch body.(type) {
		case *gdi.Get, *gdi.Verify, *gdi.History, *gdi.Explain:
			return p.Client.Do(ctx, command, body)
		}
		return gdi.Reply{}, errors.New("quill propose: " + command + " asks for what cannot be proposed (" +
			body.Verb() + ")")
	}
	b := p.about
	b.Changes = [][]byte{codec.AppendBody(nil, body)}
	return p.Client.Do(ctx, command, &b)
}
