package entry

import (
	"context"
	"net/http"

	"github.com/quill-grid/quill/pkg/fair"
)

// ClientOf names who sends a request: the user, of a program on this host; else the network address, of IPv6 the
// network.
func ClientOf(r *http.Request) string {
	if who, ok := fair.UserOf(r.Context()); ok {
		return who.Name
	}
	return fair.UserAt(r.RemoteAddr).Name
}

// UserOf returns whose turn a request takes: that of its authenticated user; what the server does for itself is a
// daemon's.
func UserOf(ctx context.Context) fair.User {
	if c := CredentialOf(ctx); c != nil {
		return fair.User{Name: c.User()}
	}
	return fair.User{Name: "quill web", Daemon: true}
}
