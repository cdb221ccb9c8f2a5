package web

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"
	"github.com/hashicorp/go-hclog"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/quill-grid/quill/pkg/fair"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/metrics"
	"github.com/quill-grid/quill/pkg/product"
	"github.com/quill-grid/quill/tools/console"
	"github.com/quill-grid/quill/tools/outlook"
	"github.com/quill-grid/quill/tools/web/entry"
	"github.com/quill-grid/quill/tools/web/mirror"
	"github.com/quill-grid/quill/tools/web/past"
	"github.com/quill-grid/quill/tools/web/problem"
)

// DefaultListen is where the API is served unless --listen says otherwise.
const DefaultListen = "127.0.0.1:9465"

// Server is the API over one mirror.
type Server struct {
	*handlers
	revoked *entry.Revocations // set by Run; nil: certificates are not revoked
	counts  metricTable
	metrics *metrics.Set
	console *console.Console
	cell    *consoleCell
	mux     *http.ServeMux
	handler http.Handler     // mux, guarded
	open    []*fair.Listener // set by Run
}

// New returns a server that does not listen yet.
func New(o Options) *Server {
	if o.Logger == nil {
		o.Logger = hclog.NewNullLogger()
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	h := &handlers{options: o, streams: streams{ask: o.Streams}, outlooks: newOutlooks(), answers: newAnswers(),
		readers: newReaders(), bodies: newBodies(), foresee: outlook.Of}
	s := &Server{handlers: h}
	s.mirror = mirror.New(&s.counts.Table)
	s.reader = past.New(s.mirror, o.History, o.Now)
	s.entry = entry.New(entry.Options{Mirror: s.mirror, Accounts: o.Accounts, LogIn: o.LogIn, ClientSecret: o.ClientSecret,
		LogInPage: logInPath, Callback: callbackPath, Logger: o.Logger, Now: o.Now})
	s.entry.SetAddress("http://"+DefaultListen, "")
	s.cell = &consoleCell{handlers: h, partWait: partWait, trials: trials{turn: newTrialTurns(), nice: trialNice}}
	s.console = console.New(s.cell)
	s.metrics = metrics.New(&s.counts, metrics.Options{
		Ready:   func() error { _, err := s.mirror.Seq(); return err },
		Refresh: func() { s.counts.Connections.Set(float64(s.connections())) },
		More:    []prometheus.Collector{slots{s.mirror}, waiting{s.mirror}, instances{s.mirror}, &s.streams},
	})
	s.mux = http.NewServeMux()
	s.register(s.mux)
	s.handler = s.guard(s.mux)
	return s
}

// register makes the routes.
func (s *Server) register(mux *http.ServeMux) {
	c := huma.DefaultConfig("Quill", product.Version)
	c.CreateHooks, c.DocsPath, c.SchemasPath, c.OpenAPIPath = nil, "", "", "" // served by pages
	c.Components.Schemas = huma.NewMapRegistry("#/components/schemas/", schemaName)
	c.RejectUnknownQueryParameters = true
	c.Formats = countedJSON(c.Formats)
	c.Transformers = []huma.Transformer{problem.AddType}
	c.Info.Description =
		"The HTTP API of a Quill cell: listings, jobs, reservations, configuration and events. See the chapter api of the manual."
	c.Servers = []*huma.Server{{URL: "/", Description: "the server that this description is from"}}
	c.Components.SecuritySchemes = map[string]*huma.SecurityScheme{
		"token": {Type: "http", Scheme: "bearer", Description: "a token of quill token create"}}
	c.Security = []map[string][]string{{"token": {}}} // the cookie of a session is for pages of this server
	s.api = humago.New(mux, c)
	s.api.UseMiddleware(s.middleware)
	s.registerJobs()
	s.registerStart()
	s.registerOutput()
	s.registerListings()
	s.registerAccounting()
	s.registerConfig()
	s.registerKinds()
	s.registerCell()
	s.registerEvents()
	s.registerWriting()
	s.registerProposals()
	s.registerSession()
	s.registerMetrics()
	describe(s.api.OpenAPI())
	pages(mux, s.api.OpenAPI())
	s.console.Register(mux)
	mux.HandleFunc("GET /login/{secret}", s.login)
	mux.HandleFunc("GET /login", s.loginPage)
	mux.HandleFunc("GET /login/oidc", s.beginLogIn)
	mux.HandleFunc("GET /login/oidc/callback", s.endLogIn)
	probes := s.metrics.Handler()
	for _, path := range []string{"/metrics", "/healthz", "/readyz"} {
		mux.Handle("GET "+path, probes)
	}
}

// middleware authenticates each request of a typed route.
func (s *Server) middleware(ctx huma.Context, next func(huma.Context)) {
	r, w := humago.Unwrap(ctx)
	c, err := s.entry.Authenticate(r)
	if err != nil {
		problem.Refuse(w, err)
		return
	}
	defer c.Release()
	if err = checkKey(r, ctx.Operation()); err == nil {
		err = checkAccept(r, ctx.Operation())
	}
	if err == nil && ctx.Operation().RequestBody != nil {
		var leave func()
		if leave, err = s.admitBody(r, fair.User{Name: c.User()}, c.Scope()); err == nil {
			defer leave()
		}
	}
	if err != nil {
		problem.Refuse(w, err)
		return
	}
	next(huma.WithContext(ctx, entry.WithCredential(ctx.Context(), c)))
}

// guard bounds and counts requests, and answers those without a route.
func (s *Server) guard(mux *http.ServeMux) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		begun := time.Now()
		h := w.Header()
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Cache-Control", "no-store")
		h.Set("Referrer-Policy", "no-referrer") // the address of a link is a secret
		h.Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'")
		counted := &response{ResponseWriter: w, status: http.StatusOK}
		route := ""
		if isClean(r.URL.Path) {
			_, route = mux.Handler(r)
		}
		defer func() {
			if caught := recover(); caught != nil {
				if caught == http.ErrAbortHandler {
					panic(caught)
				}
				s.options.Logger.Error("request ended with a panic", "route", route, "error", fmt.Sprint(caught))
				if !counted.begun {
					problem.Write(counted, problem.New(http.StatusInternalServerError, problem.TypeInternal, "",
						"the server has a bug; its log has more"))
				}
			}
			s.counts.Requests.WithLabelValues(strings.TrimSpace(route), strconv.Itoa(counted.status)).Inc()
			s.counts.Took.Observe(time.Since(begun).Seconds())
		}()
		if route == "" {
			route = "none"
			missing := &response{ResponseWriter: discard{header: h}, status: http.StatusNotFound}
			if isClean(r.URL.Path) { // else the mux sends the client to another path
				mux.ServeHTTP(missing, r)
			}
			s.refuseRequest(counted, r, problem.Unrouted(r, missing.status))
			return
		}
		if n := headerSize(r); n > headerMax {
			s.refuseRequest(counted, r, problem.New(http.StatusRequestHeaderFieldsTooLarge, problem.TypeLarge, "header",
				fmt.Sprintf("the header has %d bytes, at most %d are read", n, headerMax)))
			return
		}
		if why := s.revoked.Check(r.TLS); why != nil { // since the connection was made
			w.Header().Set("Connection", "close")
			problem.Write(counted, problem.New(http.StatusForbidden, problem.TypeCertificate, "",
				"the certificate of the client is not accepted any more: "+why.Error()))
			return
		}
		if err := problem.CheckQuery(r.URL); err != nil {
			s.refuseRequest(counted, r, err)
			return
		}
		r.Body = http.MaxBytesReader(counted, r.Body, bodyMax)
		leave, err := s.admitForm(r)
		if err != nil {
			s.refuseRequest(counted, r, err)
			return
		}
		defer leave()
		mux.ServeHTTP(counted, r)
	})
}

// isClean reports whether a path has no empty, . or .. element.
func isClean(p string) bool { return path.Clean(p) == p || path.Clean(p)+"/" == p }

// headerSize is how many bytes a header has.
func headerSize(r *http.Request) int {
	n := len(r.Method) + len(r.RequestURI) + len(r.Host)
	for name, values := range r.Header {
		for _, value := range values {
			n += len(name) + len(value) + len(": \r\n")
		}
	}
	return n
}

// response notes the status of an answer.
type response struct {
	http.ResponseWriter
	status int
	begun  bool
}

func (r *response) WriteHeader(status int) {
	if !r.begun {
		r.status, r.begun = status, true
		if h := r.Header(); status == http.StatusServiceUnavailable && h.Get("Retry-After") == "" {
			h.Set("Retry-After", strconv.Itoa(int(retryWait.Seconds())))
		}
	}
	r.ResponseWriter.WriteHeader(status)
}

func (r *response) Write(b []byte) (int, error) {
	r.begun = true
	return r.ResponseWriter.Write(b)
}

// Unwrap is for http.ResponseController.
func (r *response) Unwrap() http.ResponseWriter { return r.ResponseWriter }

// discard keeps the header of an answer whose text is replaced.
type discard struct{ header http.Header }

func (d discard) Header() http.Header         { return d.header }
func (d discard) Write(b []byte) (int, error) { return len(b), nil }
func (d discard) WriteHeader(int)             {}

// Run serves the API until ctx ends. It fails when the address or certificate cannot be used, or qmaster rejects the
// mirror.
func (s *Server) Run(ctx context.Context) error {
	encryption, err := s.openAll(ctx)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	log := s.options.Logger
	server := &http.Server{
		Handler: s.handler, TLSConfig: encryption,
		ErrorLog:          log.StandardLogger(&hclog.StandardLoggerOptions{ForceLevel: hclog.Debug}),
		ReadHeaderTimeout: headerWait, ReadTimeout: requestWait, WriteTimeout: answerWait, IdleTimeout: idleWait,
		MaxHeaderBytes: headerLimit,
		BaseContext:    func(net.Listener) context.Context { return ctx },
	}
	fair.Serve(server)
	failed := make(chan error, 3)
	for _, l := range s.open {
		go func() {
			if err := serve(server, l, encryption != nil); !errors.Is(err, http.ErrServerClosed) {
				failed <- err
			}
		}()
	}
	go s.sweep(ctx)
	followed := make(chan struct{})
	go func() {
		defer close(followed)
		if err := s.mirror.Follow(ctx, s.options.Feed,
			func(why error) { log.Warn("events of qmaster are interrupted, registering again", "reason", why) }); err != nil {
			failed <- err
		}
	}()
	log.Info("serving the API", "address", s.open[0].Addr().String(), "url", s.entry.URL())
	go func() {
		if s.mirror.WaitFor(ctx, 0, 1<<62) && s.options.Ready != nil {
			s.options.Ready(s.entry.URL())
		}
	}()
	select {
	case <-ctx.Done():
	case err = <-failed:
	}
	cancel() // streams end
	stopping, done := context.WithTimeout(context.WithoutCancel(ctx), stopWait)
	defer done()
	if server.Shutdown(stopping) != nil {
		server.Close()
	}
	<-followed
	s.entry.Close()
	return err
}

// openAll opens the address, the socket and then the feed. It returns what the address needs for TLS, nil: nothing.
func (s *Server) openAll(ctx context.Context) (encryption *tls.Config, err error) {
	var public string
	if encryption, err = s.encryption(); err == nil {
		public, err = entry.ParsePublicURL(s.options.PublicURL)
	}
	if err != nil {
		return nil, err
	}
	listener, scheme, err := s.listen()
	if err != nil {
		return nil, err
	}
	s.entry.SetAddress(cmp.Or(public, scheme+"://"+s.address(listener)), public)
	local, why := s.listenLocal()
	if why != nil {
		s.options.Logger.Warn("cannot serve local users who log in", "error", why)
	}
	if s.open = []*fair.Listener{listener}; local != nil {
		s.open = append(s.open, local)
	}
	if s.options.Connect != nil {
		s.options.Feed, err = s.options.Connect(ctx)
	}
	if err == nil {
		s.openSessions(listener)
	}
	if err != nil {
		for _, l := range s.open {
			l.Close()
		}
	}
	return encryption, err
}

// openSessions has sessions outlive this process, in a file of this host and port. Without an own port there would be
// none to find it by.
func (s *Server) openSessions(l net.Listener) {
	_, asked, _ := net.SplitHostPort(s.options.Listen)
	_, port, _ := net.SplitHostPort(l.Addr().String())
	host, err := os.Hostname()
	if s.options.Sessions == "" || asked != port {
		return
	}
	if err == nil {
		err = s.entry.OpenSessions(filepath.Join(s.options.Sessions, "sessions."+host+"."+port))
	}
	if err != nil {
		s.options.Logger.Warn("the sessions of before are lost", "error", err)
	}
}

// serve serves what comes to a listener, by TLS over the network if there is a certificate.
func serve(server *http.Server, l *fair.Listener, encrypted bool) error {
	if encrypted && l.Addr().Network() == "tcp" {
		return server.ServeTLS(l, "", "")
	}
	return server.Serve(l)
}

// listen opens the address, after a check: what is sent over a network is encrypted.
func (s *Server) listen() (_ *fair.Listener, scheme string, err error) {
	o := s.options
	host, port, err := net.SplitHostPort(o.Listen)
	if err == nil && host == "" {
		err = errors.New("the host is missing")
	}
	if err == nil {
		_, err = strconv.ParseUint(port, 10, 16)
	}
	switch {
	case err != nil:
		return nil, "", fmt.Errorf("--listen %q is not HOST:PORT, as in %s: %w", o.Listen, DefaultListen, err)
	case o.Cert == "" && !grid.IsLoopback(host):
		return nil, "",
			fmt.Errorf(
				"--listen %s: other addresses than those of loopback need --tls-cert and --tls-key: tokens are sent over them",
				o.Listen)
	}
	raw, err := net.Listen("tcp", o.Listen)
	if err != nil {
		return nil, "", fmt.Errorf("--listen %s: %w", o.Listen, err)
	}
	listener := fair.NewListener("web connections", raw, fair.Limits{Total: 4096, User: 1024, Reserve: 64})
	if o.Cert != "" {
		return listener, "https", nil
	}
	return listener, "http", nil
}

// address returns HOST:PORT of a listener, for links: the host as --listen has it, this one's name if that is every
// address.
func (s *Server) address(l net.Listener) string {
	host, _, _ := net.SplitHostPort(s.options.Listen)
	if ip := net.ParseIP(host); ip != nil && ip.IsUnspecified() {
		if name, err := os.Hostname(); err == nil {
			host = name
		}
	}
	_, port, _ := net.SplitHostPort(l.Addr().String())
	return net.JoinHostPort(host, port)
}

// encryption returns the certificate of this server, and what TLS demands of clients; nil: what is sent is not
// encrypted.
func (s *Server) encryption() (*tls.Config, error) {
	o := s.options
	switch {
	case (o.Cert == "") != (o.Key == ""):
		return nil, errors.New("--tls-cert and --tls-key go together")
	case o.ClientCA != "" && o.Cert == "":
		return nil, errors.New("--client-ca needs --tls-cert and --tls-key")
	case o.ClientCRL != "" && o.ClientCA == "":
		return nil, errors.New("--client-crl needs --client-ca")
	case o.Cert == "":
		return nil, nil
	}
	// One server serves the address and the socket: whichever is first decides on HTTP/2 for both, by these.
	c := &tls.Config{NextProtos: []string{"h2", "http/1.1"}}
	if err := s.demandCertificates(c); err != nil {
		return nil, err
	}
	own, err := tls.LoadX509KeyPair(o.Cert, o.Key)
	if err != nil {
		return nil, fmt.Errorf("--tls-cert, --tls-key: %w", err)
	}
	c.Certificates = []tls.Certificate{own}
	return c, nil
}

// demandCertificates has clients need a certificate, if there are authorities for them.
func (s *Server) demandCertificates(c *tls.Config) error {
	o := s.options
	if o.ClientCA == "" {
		return nil
	}
	text, err := os.ReadFile(o.ClientCA)
	if err != nil {
		return fmt.Errorf("--client-ca: %w", err)
	}
	c.ClientCAs, c.ClientAuth = x509.NewCertPool(), tls.RequireAndVerifyClientCert
	if !c.ClientCAs.AppendCertsFromPEM(text) {
		return fmt.Errorf("--client-ca %s: there is no certificate in the file", o.ClientCA)
	}
	if o.ClientCRL != "" {
		if s.revoked, err = entry.ReadRevocations(o.ClientCRL, o.Now, o.Logger); err != nil {
			return err
		}
		c.VerifyConnection = func(state tls.ConnectionState) error { return s.revoked.Check(&state) }
	}
	return nil
}

// connections returns how many are open.
func (s *Server) connections() (n int) {
	for _, l := range s.open {
		n += l.Count()
	}
	return n
}
