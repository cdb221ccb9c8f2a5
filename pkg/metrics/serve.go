package metrics

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// Bounds of the server. Every program that reaches its address may connect.
const (
	headerWait  = 5 * time.Second // until the header of a request is read
	requestWait = 10 * time.Second
	answerWait  = 30 * time.Second
	idleWait    = 2 * time.Minute // longer than the usual time between two scrapes
	headerMax   = 8 << 10
	connections = 64
	scrapes     = 4 // at a time
	closeWait   = time.Second
)

// Server serves a Set over HTTP.
type Server struct {
	http    *http.Server
	address net.Addr
	served  chan struct{} // closed when it has ended
	open    atomic.Int64  // connections
}

// Serve serves a set on an address, HOST:PORT, until Close. It fails if the address is not of this form or cannot be bound.
func Serve(address string, s *Set, log hclog.Logger) (*Server, error) {
	if err := checkAddress(address); err != nil {
		return nil, err
	}
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return nil, fmt.Errorf("--http %s: %w", address, err)
	}
	server := &Server{address: listener.Addr(), served: make(chan struct{})}
	server.http = &http.Server{
		Handler: s.Handler(), ConnState: server.bound, ErrorLog: log.StandardLogger(&hclog.StandardLoggerOptions{ForceLevel: hclog.Debug}),
		ReadHeaderTimeout: headerWait, ReadTimeout: requestWait, WriteTimeout: answerWait, IdleTimeout: idleWait, MaxHeaderBytes: headerMax,
	}
	go func() {
		defer close(server.served)
		if err := server.http.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			log.Error("metrics are not served any more", "address", server.Address(), "error", err)
		}
	}()
	log.Info("serving /metrics, /healthz and /readyz", "address", server.Address())
	return server, nil
}

// Address returns the address with the port that is listened on.
func (s *Server) Address() string { return s.address.String() }

// Close ends the server: requests that are being answered have a second.
func (s *Server) Close() {
	ctx, cancel := context.WithTimeout(context.Background(), closeWait)
	defer cancel()
	if s.http.Shutdown(ctx) != nil {
		s.http.Close()
	}
	<-s.served
}

// bound closes a connection that is one too many.
func (s *Server) bound(c net.Conn, now http.ConnState) {
	switch now {
	case http.StateNew:
		if s.open.Add(1) > connections {
			c.Close()
		}
	case http.StateClosed, http.StateHijacked:
		s.open.Add(-1)
	}
}

// checkAddress returns what is wrong with an address. An empty HOST, which would mean all addresses of the host, is refused:
// 0.0.0.0 and [::] mean that explicitly.
func checkAddress(address string) error {
	host, port, err := net.SplitHostPort(address)
	if err == nil && host != "" {
		if _, err := strconv.ParseUint(port, 10, 16); err == nil {
			return nil
		}
	}
	return fmt.Errorf("--http %q is not HOST:PORT, as in 127.0.0.1:9464, or 0.0.0.0:9464 for all addresses of the host", address)
}

// Handler returns the handler that Serve uses: it answers the three paths, to GET and HEAD.
func (s *Set) Handler() http.Handler {
	scrape := promhttp.HandlerFor(s, promhttp.HandlerOpts{EnableOpenMetrics: true, MaxRequestsInFlight: scrapes})
	text := func(w http.ResponseWriter, status int, text string) {
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		w.WriteHeader(status)
		fmt.Fprintln(w, text)
	}
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", scrape)
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { text(w, http.StatusOK, "ok") })
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, _ *http.Request) {
		if s.Ready != nil {
			if err := s.Ready(); err != nil {
				text(w, http.StatusServiceUnavailable, err.Error())
				return
			}
		}
		text(w, http.StatusOK, "ok")
	})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Content-Type-Options", "nosniff")
		w.Header().Set("Cache-Control", "no-store")
		mux.ServeHTTP(w, r)
	})
}
