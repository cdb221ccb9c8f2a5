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

// Block is a file with messages of a stream.
type Block struct {
	First, Last uint64 // numbers of its messages, as far as it is good; 0: there are none
	Whole       bool   // all of it is good
	// Lost: records cannot be found, or have other numbers. An engine cuts the block there, when it makes the index of
	// the stream anew; with an old index when it reads the block, and does not know what it has until it starts again.
	Lost bool
}

// IndexFile is beside the blocks of a stream and says what they hold. An engine makes a new one if there is none.
const IndexFile = "index.db"

// startEngine starts an engine that accepts connections; readEngineBlocks reads the blocks of a stream in its
// directory: those of which an engine reads any when it starts and is asked for the messages from one on. nil: the
// program has none.
var (
	startEngine      func(EngineOptions) (Engine, error)
	readEngineBlocks func(dir, stream string, from uint64) ([]Block, error)
)

// RegisterEngine sets the functions that start engines and read their files. It is called before any Start.
func RegisterEngine(
	start func(EngineOptions) (Engine, error), read func(dir, stream string, from uint64) ([]Block, error),
) {
	startEngine, readEngineBlocks = start, read
}

// ErrNoEngine is the error of Start in a program that does not import pkg/bus/embedded.
var ErrNoEngine = errors.New("this program contains no server")
