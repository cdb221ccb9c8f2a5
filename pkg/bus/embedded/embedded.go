package embedded

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"github.com/quill-grid/quill/pkg/bus"
)

func init() { bus.RegisterEngine(startServer, readBlocks) }

const (
	memoryMax = 64 << 20 // no stream of ours is kept in memory
	startWait = 5 * time.Minute
	// for a client to authenticate; pkg/bus, which identifies all but those of this process, gives up earlier
	authWait = time.Minute
)

// Bounds of one connection that speaks NATS.
const (
	// bytes that wait for a daemon; a reader of the log may have 32 MB. For users pkg/bus has lower ones
	unreadMax        = 40 << 20
	subscriptionsMax = 1000
)

// engine is the server that runs.
type engine struct{ *server.Server }

// startServer returns a server that accepts connections and can use its store.
func startServer(o bus.EngineOptions) (bus.Engine, error) {
	s, err := server.NewServer(natsOptions(o))
	if err != nil {
		return nil, err
	}
	if o.Log != nil {
		s.SetLogger(natsLogger{o.Log}, false, false)
	}
	e := engine{s}
	s.Start()
	switch {
	case !s.ReadyForConnections(startWait):
		err = errors.New("does not come up")
	case !s.JetStreamEnabled():
		err = errors.New("cannot use its store")
	default:
		return e, nil
	}
	e.Stop()
	return nil, err
}

func natsOptions(o bus.EngineOptions) *server.Options {
	return &server.Options{
		CustomClientAuthentication: authHook{o.Authenticate},
		ServerName:                 "ge",
		StoreDir:                   o.Dir,
		JetStream:                  true,
		JetStreamMaxStore:          o.StoreMax,
		JetStreamMaxMemory:         memoryMax,
		AuthTimeout:                authWait.Seconds(),
		SyncAlways:                 o.Durable,
		SyncInterval:               time.Second,
		MaxConn:                    o.Connections,
		MaxPayload:                 bus.PayloadMax,
		MaxPending:                 unreadMax,
		MaxSubs:                    subscriptionsMax,
		MaxClosedClients:           1,    // it would keep what it knew of 10,000
		DontListen:                 true, // pkg/bus does, see socket.go and network.go there
		PingInterval:               bus.PingInterval,
		NoFastProducerStall:        true, // a slow listener misses frames, qmaster does not wait for it
		NoSigs:                     true,
		NoLog:                      true,
		AlwaysEnableNonce:          true,
		DisableJetStreamBanner:     true,
	}
}

// Health returns why the server can no longer write, or nil.
func (e engine) Health() error { return awaitHealth(e.Healthz) }

// awaitHealth asks the server until it has looked at its store. Before that it waits a millisecond for its own start,
// which has long ended, and gives up where it gets no processor for that long.
func awaitHealth(ask func(*server.HealthzOptions) *server.HealthStatus) error {
	for begun := time.Now(); ; time.Sleep(time.Millisecond) {
		var all []error
		unready := false
		for _, e := range ask(&server.HealthzOptions{Details: true}).Errors {
			if strings.HasPrefix(e.Stream, ".") { // a deleted stream, whose files are being removed
				continue
			}
			all = append(all, errors.New(e.Error))
			unready = unready || e.Type == server.HealthzErrorConn
		}
		if len(all) == 0 {
			return nil
		}
		if !unready || time.Since(begun) > startWait {
			return fmt.Errorf("store is not healthy: %w", errors.Join(all...))
		}
	}
}

// Stop returns when the server has ended.
func (e engine) Stop() {
	e.Shutdown()
	e.WaitForShutdown()
}

// authHook is called by the server for every connection.
type authHook struct {
	authenticate func(ticket string) (bus.Identity, bool)
}

// Check gives the connection the permissions of the identity of its ticket.
func (g authHook) Check(c server.ClientAuthentication) bool {
	id, ok := g.authenticate(c.GetOpts().Token)
	if ok {
		c.RegisterUser(&server.User{Username: id.Word(), Permissions: permissionsOf(id)})
	}
	return ok
}

// permissionsOf is bus.Permissions in the server's types.
func permissionsOf(id bus.Identity) *server.Permissions {
	allow := bus.Permissions(id)
	p := &server.Permissions{
		Publish:   &server.SubjectPermission{Allow: allow.Publish},
		Subscribe: &server.SubjectPermission{Allow: allow.Subscribe},
	}
	if allow.Respond {
		p.Response = &server.ResponsePermission{MaxMsgs: bus.ResponsesMax, Expires: bus.ResponseLife}
	}
	return p
}

// natsLogger passes the server's messages on.
type natsLogger struct{ to bus.Logger }

func (l natsLogger) Noticef(format string, v ...any) { l.to.Debug(fmt.Sprintf(format, v...)) }
func (l natsLogger) Warnf(format string, v ...any)   { l.to.Warn(fmt.Sprintf(format, v...)) }
func (l natsLogger) Fatalf(format string, v ...any)  { l.to.Error(fmt.Sprintf(format, v...)) }
func (l natsLogger) Errorf(format string, v ...any)  { l.to.Error(fmt.Sprintf(format, v...)) }
func (l natsLogger) Debugf(format string, v ...any)  { l.to.Debug(fmt.Sprintf(format, v...)) }
func (l natsLogger) Tracef(string, ...any)           {}
