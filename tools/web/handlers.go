package web

import (
	"context"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/hashicorp/go-hclog"

	"github.com/quill-grid/quill/pkg/fair"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/state"
	"github.com/quill-grid/quill/tools/outlook"
	"github.com/quill-grid/quill/tools/web/entry"
	"github.com/quill-grid/quill/tools/web/mirror"
	"github.com/quill-grid/quill/tools/web/past"
)

// handlers is what all handlers of requests share. Its fields are set by New, and never after it.
type handlers struct {
	options  Options
	mirror   *mirror.Mirror
	reader   *past.Reader
	entry    *entry.Authenticator
	streams  streams
	outlooks *fair.Places // the starts that are being foreseen
	answers  *fair.Places // the listings that are being sent
	readers  *fair.Places // of events
	bodies   *fair.Places // bytes of memory
	foresee  func(*state.State, *grid.Job, uint32, grid.Time, outlook.Options) *outlook.Outlook
	api      huma.API // set by Server.register
}

// Options are what quill web is run with.
type Options struct {
	Cell string      // name, for answers
	Feed mirror.Feed // the mirror's connection, of a user: private fields do not reach it; nil: what Connect returns
	// Connect opens the Feed when the addresses, the socket and the files of the certificates are open: what only root may
	// open, before the process becomes another user.
	Connect  func(context.Context) (mirror.Feed, error)
	Accounts entry.Accounts
	LogIn    entry.LogIn   // nil: the identity provider of the cell is not used
	History  past.History  // nil: only what happens now
	Streams  Streams       // nil: they are not known
	Master   func() string // host of the leading qmaster; nil: not known
	Logger   hclog.Logger
	Now      func() time.Time

	Listen    string // HOST:PORT; other than loopback only with Cert and Key
	Cert, Key string // PEM files
	ClientCA  string // PEM file: clients need a certificate of these authorities, beside their token; "": they need none
	// ClientCRL is a file with certificate revocation lists of these authorities, PEM or DER; "": certificates are not
	// revoked.
	ClientCRL string
	// PublicURL is the address under which browsers find the server, as https://HOST, when a proxy is before it; "": that
	// of Listen.
	PublicURL string
	// ClientSecret is that of the cell at its identity provider; "": it has none.
	ClientSecret string
	Sessions     string // directory of this process in which sessions outlive a restart; "": they do not
	Socket       string // also serves at this Unix socket, for local users who log in; "": nowhere
	// Ready is called with the address when the API is served and has the first full state. nil: no call.
	Ready func(url string)
}

// Bounds of the server. Every program that reaches its address may connect.
const (
	headerWait  = 5 * time.Second
	requestWait = 30 * time.Second
	answerWait  = 60 * time.Second
	idleWait    = 30 * time.Second
	headerMax   = 16 << 10 // a larger one is a problem
	headerLimit = 32 << 10 // of net/http, which answers with a text and closes the connection
	stopWait    = 5 * time.Second
	reachWait   = 10 * time.Second // for ?after=
	retryWait   = 5 * time.Second  // for Retry-After of every answer with status 503
)

// leader returns the host of the qmaster that leads, "" while it is not known.
func (s *handlers) leader() string {
	if s.options.Master == nil {
		return ""
	}
	return s.options.Master()
}
