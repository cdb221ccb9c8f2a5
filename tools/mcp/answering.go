package mcp

import (
	"context"
	"errors"
	"io"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// answering is a transport whose input ends when the requests that it has read are answered: a client may close its
// side after its last request, as a pipe does.
type answering struct{ sdk.Transport }

// Connect returns the connection.
func (a answering) Connect(ctx context.Context) (sdk.Connection, error) {
	c, err := a.Transport.Connect(ctx)
	if err != nil {
		return nil, err
	}
	return &answeringConnection{Connection: c, closed: make(chan struct{})}, nil
}

type answeringConnection struct {
	sdk.Connection
	unanswered sync.WaitGroup // requests; each ends, by callMost
	closed     chan struct{}
	close      sync.Once
}

// Read returns the next message. At the end of the input it waits for the answers.
func (c *answeringConnection) Read(ctx context.Context) (jsonrpc.Message, error) {
	m, err := c.Connection.Read(ctx)
	if r, is := m.(*jsonrpc.Request); is && r.IsCall() {
		c.unanswered.Add(1)
	}
	if errors.Is(err, io.EOF) {
		answered := make(chan struct{})
		go func() {
			c.unanswered.Wait()
			close(answered)
		}()
		select {
		case <-answered:
		case <-c.closed:
		case <-ctx.Done():
		}
	}
	return m, err
}

// Write writes a message.
func (c *answeringConnection) Write(ctx context.Context, m jsonrpc.Message) error {
	err := c.Connection.Write(ctx, m)
	if _, is := m.(*jsonrpc.Response); is {
		c.unanswered.Done()
	}
	return err
}

// Close closes the connection.
func (c *answeringConnection) Close() error {
	c.close.Do(func() { close(c.closed) })
	return c.Connection.Close()
}
