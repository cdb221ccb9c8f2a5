package web

import (
	"context"
	"net/http"

	"github.com/quill-grid/quill/pkg/fair"
)

// clientOf names who sends a request: the user, of a program on this host; else the network address, of IPv6 the network.
func clientOf(r *http.Request) string {
	if who, ok := fair.UserOf(r.Context()); ok {
		return who.Name
	}
	return fair.UserAt(r.RemoteAddr).Name
}

// turnOf returns whose turn a request takes: that of its authenticated user; what the server does for itself is a daemon's.
func turnOf(ctx context.Context) fair.User {
	if c, ok := ctx.Value(credentialKey{}).(*credential); ok {
		return fair.User{Name: c.User()}
	}
	return fair.User{Name: "quill web", Daemon: true}
}
