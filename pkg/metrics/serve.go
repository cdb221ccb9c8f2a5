package metrics

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/quill-grid/quill/pkg/fair"
)

// Bounds of the server. Every program that reaches its address may connect.
const (
	headerWait  = 5 * time.Second // until the header of a request is read
	requestWait = 10 * time.Second
	answerWait  = 30 * time.Second
	idleWait    = 2 * time.Minute // longer than the usual time between two scrapes
	headerMax   = 8 << 10
	closeWait   = time.Second
)

// Server serves a Set over HTTP.
type Server struct {
	http    *http.Server
	address net.Addr
	served  chan struct{} // closed when it has ended
}

// Serve serves a set on an address, HOST:PORT, until Close. It fails if the address is not of this form or cannot be
// bound.
func Serve(address string, s *Set, log hclog.Logger) (*Server, error) {
	if err := checkAddress(address); err != nil {
		return nil, err
	}
	raw, err := net.Listen("tcp", address)
	if err != nil {
		return nil, fmt.Errorf("--http %s: %w", address, err)
	}
	listener := fair.NewListener("metrics connections", raw, fair.Limits{Total: 64, User: 16, Reserve: 8})
	server := &Server{address: listener.Addr(), served: make(chan struct{})}
	server.http = &http.Server{
		Handler: s.Handler(), ErrorLog: log.StandardLogger(&hclog.StandardLoggerOptions{ForceLevel: hclog.Debug}),
		ReadHeaderTimeout: headerWait, ReadTimeout: requestWait, WriteTimeout: answerWait, IdleTimeout: idleWait,
		MaxHeaderBytes: headerMax,
	}
	fair.Serve(server.http)
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

// checkAddress returns what is wrong with an address. An empty HOST, which would mean all addresses of the host, is
// refused: 0.0.0.0 and [::] mean that explicitly.
func checkAddress(address string) error {
	host, port, err := net.SplitHostPort(address)
	if err == nil && host != "" {
		if _, err := strconv.ParseUint(port, 10, 16); err == nil {
			return nil
		}
	}
	return fmt.Errorf("--http %q is not HOST:PORT, as in 127.0.0.1:9464, or 0.0.0.0:9464 for all addresses of the host",
		address)
}

// Handler returns the handler that Serve uses: it answers the three paths, to GET and HEAD.
func (s *Set) Handler() http.Handler {
	scrapes := fair.NewPlaces("scrapes of metrics", fair.Limits{Total: 4, User: 1, Reserve: 1, Waiting: 8})
	collect := promhttp.HandlerFor(s, promhttp.HandlerOpts{EnableOpenMetrics: true})
	text := func(w http.ResponseWriter, status int, text string) {
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		w.WriteHeader(status)
		fmt.Fprintln(w, text)
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /metrics", func(w http.ResponseWriter, r *http.Request) {
		who, ok := fair.UserOf(r.Context())
		if !ok {
			who = fair.UserAt(r.RemoteAddr)
		}
		leave, err := scrapes.Wait(r.Context(), who, 1)
		if err != nil {
			text(w, http.StatusServiceUnavailable, err.Error())
			return
		}
		page := page{ResponseWriter: w, status: http.StatusOK}
		collect.ServeHTTP(&page, r)
		leave()
		page.send()
	})
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

// page is an answer that is sent when it is complete: who reads it slowly keeps no place.
type page struct {
	http.ResponseWriter
	status int
	text   bytes.Buffer
}

func (p *page) WriteHeader(status int)      { p.status = status }
func (p *page) Write(b []byte) (int, error) { return p.text.Write(b) }

func (p *page) send() {
	p.ResponseWriter.WriteHeader(p.status)
	_, _ = p.ResponseWriter.Write(p.text.Bytes())
}
