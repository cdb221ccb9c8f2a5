package bus

import (
	"errors"
	"net"
)

// Engine is the NATS server under a Server. pkg/bus/embedded has it and registers it: a program that imports only
// pkg/bus is a client and does not link the server.
type Engine interface {
	// InProcessConn returns a connection to it.
	InProcessConn() (net.Conn, error)
	// Health returns why it can no longer write, or nil.
	Health() error
	// Stop returns when it has closed its connections and flushed its store.
	Stop()
}

// EngineOptions say what a Server needs of its engine.
type EngineOptions struct {
	Dir         string // where streams are stored
	Durable     bool   // every append is on disk before it is acknowledged; else within a second
	StoreMax    int64  // bytes of disk for all streams
	Connections int    // at most so many
	// Authenticate redeems a connection's ticket. The connection has the Permissions of the identity; false: it is
	// refused.
	Authenticate func(ticket string) (Identity, bool)
	Log          Logger // nil: silent
}

// startEngine starts an engine that accepts connections; nil: the program has none.
var startEngine func(EngineOptions) (Engine, error)

// RegisterEngine sets the function that starts engines. It is called before any Start.
func RegisterEngine(start func(EngineOptions) (Engine, error)) { startEngine = start }

// ErrNoEngine is the error of Start in a program that does not import pkg/bus/embedded.
var ErrNoEngine = errors.New("this program contains no server")
