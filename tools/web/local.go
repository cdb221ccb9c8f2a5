package web

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/quill-grid/quill/pkg/cell"
	"github.com/quill-grid/quill/pkg/fair"
)

// The API is also served at a Unix socket in the cell's directory, where only the cell's administrator can make one: a
// client that connects to it gives its token to quill web and to no other program that has taken its port.

// listenLocal opens the socket; nil: there is none. A socket that was left is replaced, one that another quill web
// serves is an error. It is removed when the listener is closed.
func (s *Server) listenLocal() (*fair.Listener, error) {
	path := s.options.Socket
	if path == "" {
		return nil, nil
	}
	if c, err := net.Dial("unix", path); err == nil {
		c.Close()
		return nil, fmt.Errorf("another quill web of this cell serves %s", path)
	}
	l, err := fair.ListenUnix(path)
	if err != nil {
		return nil, err
	}
	return fair.NewListener("web socket", l, fair.Limits{Total: 256, User: 64, Reserve: 16}), nil
}

// localClient connects to a Unix socket, whatever address it is given.
func localClient(path string) *http.Client {
	return &http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", path)
	}}}
}

// OpenSession has the quill web of a cell on this host make a session with a token, and returns the link that opens it
// in a browser. With revoke the token is revoked when the session ends. It fails when no quill web runs on this host,
// or the token is not valid.
func OpenSession(ctx context.Context, c cell.Cell, token string, revoke bool) (link string, err error) {
	client := localClient(c.WebSocket())
	defer client.CloseIdleConnections()
	body, err := json.Marshal(map[string]bool{"revoke": revoke})
	if err != nil {
		return "", err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://localhost/v1/session", bytes.NewReader(body))
	if err != nil {
		return "", err
	}
	r.Header.Set("Authorization", "Bearer "+token)
	r.Header.Set("Content-Type", typeJSON)
	answer, err := client.Do(r)
	if failed := (*net.OpError)(nil); errors.As(err, &failed) && failed.Op == "dial" {
		return "", fmt.Errorf("no quill web of this cell runs on this host (%w)", failed)
	}
	if err != nil {
		return "", fmt.Errorf("quill web: %w", err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(io.LimitReader(answer.Body, bodyMax))
	if err != nil {
		return "", fmt.Errorf("quill web: %w", err)
	}
	if answer.StatusCode != http.StatusCreated {
		var p huma.ErrorModel
		if json.Unmarshal(text, &p) != nil || p.Detail == "" {
			p.Detail = answer.Status
		}
		return "", fmt.Errorf("quill web: %s", p.Detail)
	}
	var made Link
	if err := json.Unmarshal(text, &made); err != nil {
		return "", fmt.Errorf("quill web: %w", err)
	}
	return made.Link, nil
}
