package bus

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
)

// ServerOptions say how the embedded server of a cell is run. Dir is required.
type ServerOptions struct {
	Dir      string     // where streams are stored; one server only, held by a lock
	Durable  bool       // every append is on disk before it is acknowledged; else within a second
	Socket   string     // path of the Unix socket for local programs; "": none
	Listen   string     // TCP address for other hosts, "127.0.0.1:0" for a free port; "": none
	AdminUID uint32     // besides root the uid that may act as a daemon over Socket
	Keys     string     // file of public nkeys allowed over Listen, see authenticator.go; "": none
	Tokens   TokenOwner // knows the tokens, which are allowed over Socket and Listen; nil: there are none
	// reports whether clients over Listen without credentials may connect, to log in; nil: they may not
	LogIns   func() bool
	CertUser CertUser // whom certificates name; nil: their common name
	TLS      TLSFiles // required for a Listen address that is not loopback
	StoreMax int64    // bytes of disk for all streams; 0: 256 GiB
	Memory   int64    // bytes that this process may use: what waits for clients takes a part of them; 0: no bound
	// Connections bounds the connections of all users and daemons, see quota.go; 0: as
	// many as file descriptors allow, at most 16384.
	Connections int
	// OpenLater: other processes can connect after Open only, so that they do not hold up the owner while it starts.
	OpenLater bool
	// Rebuild: the server makes its index of the log anew, and cuts blocks that are damaged before it says what they hold.
	Rebuild bool
	Log     Logger // nil: silent
}

const (
	storeMaxDefault = 256 << 30
)

// insideMax is how many connections this process may have to its own server.
const insideMax = 64

// Server is the embedded server of a cell.
type Server struct {
	nats     Engine
	dir      string
	options  ServerOptions
	auth     *authenticator
	lock     *os.File
	requests requestQueue
	bounds   *memoryBounds
	socket   *socketListener  // nil: none
	network  *networkListener // nil: none
	copy     string           // directory to be removed in the end, see StartCopy
	end      func()           // ends the search for revoked credentials
}

// Start brings the server up; when it returns, connections are accepted, with OpenLater those of this process only.
func Start(o ServerOptions) (*Server, error) {
	lock, err := lockDir(o.Dir)
	if err != nil {
		return nil, err
	}
	s := &Server{auth: &authenticator{keyFile: o.Keys, adminUID: o.AdminUID, log: newRateLimitedLogger(o.Log),
		connQuota: newConnQuota(o.Connections), natsQuota: newNATSQuota(), tokens: o.Tokens, logIns: o.LogIns,
		certUser: o.CertUser}, lock: lock, dir: o.Dir, options: o}
	s.bounds = newMemoryBounds(o.Memory)
	s.requests.most = s.bounds.waiting
	err = s.startEngine(o)
	if err == nil && !o.OpenLater {
		err = s.Open()
	}
	if err != nil {
		s.Stop()
		return nil, err
	}
	return s, nil
}

func (s *Server) startEngine(o ServerOptions) error {
	if o.Listen != "" { // before anything is recovered
		if _, _, err := listenOptions(o.Listen, o.TLS); err != nil {
			return err
		}
	}
	if err := removeUnfinishedStreams(o.Dir); err != nil {
		return err
	}
	if o.Rebuild {
		if err := removeIndex(o.Dir); err != nil {
			return err
		}
	}
	if o.OpenLater {
		if err := reserveSocket(o.Socket); err != nil {
			return err
		}
	}
	err := s.serveEngine(o)
	if broken := (*brokenStore)(nil); errors.As(err, &broken) {
		removed, removeErr := removeDebug(o.Dir, broken.why)
		made, makeErr := remakeDefinition(o.Dir, broken.why)
		if bad := errors.Join(removeErr, makeErr); !removed && !made || bad != nil {
			return errors.Join(err, bad)
		}
		if removed && o.Log != nil {
			o.Log.Warn("recorded orders cannot be read and are removed", "error", broken.why)
		}
		if made && o.Log != nil {
			o.Log.Warn("the definition of the log's stream was damaged and is made anew; its messages are as they were",
				"error", broken.why)
		}
		s.nats.Stop()
		err = s.serveEngine(o)
	}
	return err
}

// Open lets other processes connect. With OpenLater it is called once.
func (s *Server) Open() (err error) {
	o := s.options
	if o.Listen != "" && o.Keys != "" || o.Tokens != nil {
		var open context.Context
		open, s.end = context.WithCancel(context.Background())
		go s.auth.closeRevokedConns(open.Done())
	}
	if o.Listen != "" {
		if s.network, err = listenNetwork(o.Listen, o.TLS, s.nats, s.auth, s.bounds); err != nil {
			return err
		}
	}
	if o.Socket != "" {
		s.socket, err = listenSocket(o.Socket, s.nats, s.auth, &s.requests, s.bounds)
	}
	return err
}

// brokenStore means that the server could not recover all that it has.
type brokenStore struct {
	dir string
	why error
}

func (b *brokenStore) Error() string { return fmt.Sprintf("server in %s: %v", b.dir, b.why) }

// serveEngine starts the server itself.
func (s *Server) serveEngine(o ServerOptions) error {
	if startEngine == nil {
		return ErrNoEngine
	}
	engine, err := startEngine(EngineOptions{
		Dir: o.Dir, Durable: o.Durable, StoreMax: cmp.Or(o.StoreMax, storeMaxDefault),
		Connections:  2*s.auth.connQuota.Total + insideMax,
		Authenticate: s.auth.authenticateTicket, Log: s.auth.log,
	})
	if err != nil {
		return fmt.Errorf("server in %s: %w", o.Dir, err)
	}
	s.nats = engine
	if err := s.storeBroken(); err != nil {
		return &brokenStore{o.Dir, err}
	}
	return nil
}

// Connect opens a connection inside this process, acting as id.
func (s *Server) Connect(id Identity) (*Conn, error) {
	if !id.Known() {
		return nil, fmt.Errorf("no such identity: %s", id)
	}
	return dial(ConnOptions{Identity: id, Inside: s})
}

// storeBroken returns why the server can no longer write, or nil. The server does not
// answer a publish that it could not store, so a client that waits for an answer calls
// this.
func (s *Server) storeBroken() error { return s.nats.Health() }

// Connections returns how many connections users and daemons have.
func (s *Server) Connections() int { return s.auth.connQuota.Count() }

// Dir returns where its streams are stored: of StartCopy the copy.
func (s *Server) Dir() string { return s.dir }

// URL is where TCP clients connect; "" without Listen, and before Open.
func (s *Server) URL() string {
	if s.network == nil {
		return ""
	}
	return s.network.url()
}

// Stop closes every connection, flushes the store and gives up the directory.
func (s *Server) Stop() {
	if s.socket != nil {
		s.socket.closeConns()
	}
	if s.network != nil {
		s.network.closeConns()
	}
	if s.end != nil {
		s.end()
	}
	if s.nats != nil {
		s.nats.Stop()
	}
	s.lock.Close()
	if s.copy != "" {
		os.RemoveAll(s.copy)
	}
}
