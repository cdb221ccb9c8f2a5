package console

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"html/template"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/quill-grid/quill/pkg/fair"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/product"
)

// page is a page: a handler that makes its data, and a template of the same name with "title" and "main".
type page struct {
	path  string // as http.ServeMux has it
	name  string // of the template
	menu  string // its text in the navigation, "": it is not there
	show  func(*request) (any, error)
	still bool // it does not follow the cell
}

// Console serves the pages of a cell.
type Console struct {
	cell    Backend                       // set by New, as all but stories and acts
	list    []page                        // in the order of the navigation
	pages   map[string]*template.Template // by name
	assets  map[string]*asset             // by name
	live    *fair.Places                  // streams
	stories stories                       // written by the pages of jobs
	acts    acts                          // written by forms of actions
}

// request is a request for a page, or the stream of one.
type request struct {
	*http.Request
	console *Console
	page    *page
	session Session
	moment  *Moment
	query   url.Values
	halved  int // how often the rows that are shown were halved
}

// cell returns the cell that the page shows.
func (r *request) cell() Backend { return r.console.cell }

// link returns an address within the console, at the moment of the request.
func (r *request) link(path string) string { return (&frame{At: r.query.Get("at")}).Link(path) }

// list returns the words of a parameter: names with commas.
func (r *request) list(name string) (out []string) {
	for _, word := range strings.Split(r.query.Get(name), ",") {
		if word = strings.TrimSpace(word); word != "" {
			out = append(out, word)
		}
	}
	return out
}

// frame is what the layout shows, with the data of a page.
type frame struct {
	Data    any
	Title   string
	Menu    []menuItem
	Cell    string
	Version string
	User    string
	Role    string
	CSRF    string
	Path    string
	Query   url.Values
	At      string // as the address has it, "": now
	Seq     uint64
	Time    grid.Time
	Now     grid.Time // of the moment
	Present grid.Time
	Begin   Place
	Live    bool // the page follows the cell
	Problem *Problem
	Again   string // the same page: it was refused because the browser followed a link of another site
	// Proposals is how many changes wait for the user's decision, elsewhere than on their page.
	Proposals int
}

type menuItem struct {
	Path, Text string
	Here       bool
}

// Link returns an address within the console, at the same moment.
func (f *frame) Link(path string) string {
	if f.At == "" {
		return path
	}
	separator := "?"
	if strings.Contains(path, "?") {
		separator = "&"
	}
	return path + separator + "at=" + url.QueryEscape(f.At)
}

// With returns the address of the page with other parameters: names and values, "" leaves one out. It begins with the
// first page of a listing.
func (f *frame) With(pairs ...string) string {
	q := url.Values{}
	for name, values := range f.Query {
		if name != "cursor" && !strings.HasPrefix(name, "after") {
			q[name] = values
		}
	}
	for i := 0; i+1 < len(pairs); i += 2 {
		if q.Set(pairs[i], pairs[i+1]); pairs[i+1] == "" {
			q.Del(pairs[i])
		}
	}
	if len(q) == 0 {
		return f.Path
	}
	return f.Path + "?" + q.Encode()
}

// Get returns a parameter.
func (f *frame) Get(name string) string { return f.Query.Get(name) }

// Rest returns the parameters but some, for forms.
func (f *frame) Rest(but ...string) (out [][2]string) {
	for name := range f.Query {
		if !slices.Contains(but, name) && f.Query.Get(name) != "" {
			out = append(out, [2]string{name, f.Query.Get(name)})
		}
	}
	slices.SortFunc(out, func(a, b [2]string) int { return strings.Compare(a[0], b[0]) })
	return out
}

// policy of the content: nothing from elsewhere, nothing inline.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; font-src 'self'; " +
	"base-uri 'none'; form-action 'self'; frame-ancestors 'none'"

// proposalsPath is that of the page of proposals, on which they are not counted.
const proposalsPath = "/proposals"

// pageWait bounds what the making of a page may take.
const pageWait = 20 * time.Second

// make makes a page at the moment that is asked for. A *Problem of a field is shown within the page, where it makes one
// beside the error.
func (c *Console) make(ctx context.Context, q *request) (*frame, error) {
	q.Request = q.Request.WithContext(ctx)
	var err error
	if q.moment, err = c.cell.Moment(ctx, q.query.Get("at")); err != nil {
		return nil, err
	}
	f := c.frame(q)
	f.Data, err = q.page.show(q)
	if p := (*Problem)(nil); f.Data != nil && errors.As(err, &p) && p.Field != "" {
		f.Problem, err = p, nil
	}
	return f, err
}

// frame returns the frame of a request; its moment may be nil.
func (c *Console) frame(q *request) *frame {
	f := &frame{Cell: c.cell.Name(), Version: product.Version, User: q.session.User(), CSRF: q.session.CSRF(),
		Path: q.URL.Path, Query: q.query,
		At: q.query.Get("at"), Begin: c.cell.Begin(q.Context())}
	if q.page != nil {
		f.Title = q.page.menu
	}
	if m := q.moment; m != nil {
		f.Seq, f.Time, f.Now, f.Present, f.Live = m.State.Seq, m.State.At, m.Now, m.Present, m.Live && f.At == "" &&
			(q.page == nil || !q.page.still) && q.page != nil
		switch {
		case m.State.IsManager(f.User):
			f.Role = "manager"
		case m.State.IsOperator(f.User):
			f.Role = "operator"
		}
		if q.page == nil || q.page.path != proposalsPath {
			f.Proposals = f.waiting(m)
		}
	}
	for _, p := range c.list {
		here := q.page != nil && (p.path == q.page.path || p.path != "/{$}" && strings.HasPrefix(q.page.path, p.path))
		if p.menu != "" {
			f.Menu = append(f.Menu, menuItem{strings.TrimSuffix(p.path, "{$}"), p.menu, here})
		}
	}
	return f
}

// waiting counts the open proposals that the user may decide on.
func (f *frame) waiting(m *Moment) (n int) {
	for _, p := range m.State.Proposals() {
		if p.Status == grid.ProposalOpen && (p.User == f.User || f.Role == "manager") {
			n++
		}
	}
	return n
}

// write writes a page.
func (c *Console) write(w http.ResponseWriter, r *http.Request, status int, name string, f *frame) {
	c.send(w, r, status, c.render(name, f))
}

// render returns a page.
func (c *Console) render(name string, f *frame) []byte {
	var b bytes.Buffer
	if err := c.pages[name].Execute(&b, f); err != nil {
		panic(err) // guarded by the server
	}
	return b.Bytes()
}

// send sends a page.
func (c *Console) send(w http.ResponseWriter, r *http.Request, status int, page []byte) {
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Security-Policy", policy)
	h.Set("Referrer-Policy", "same-origin") // without it forms have no origin
	h.Set("Vary", "Accept, Accept-Encoding")
	if strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
		h.Set("Content-Encoding", "gzip")
		w.WriteHeader(status)
		z, _ := gzip.NewWriterLevel(w, gzip.BestSpeed) // the level is one
		_, _ = z.Write(page)
		_ = z.Close()
		return
	}
	w.WriteHeader(status)
	_, _ = w.Write(page)
}

// visitor is the session of one who has none.
type visitor struct{ Session }

func (visitor) User() string { return "" }

func (visitor) CSRF() string { return "" }

// refuse answers with a page that says what is wrong. q is nil for one who has no session.
func (c *Console) refuse(w http.ResponseWriter, r *http.Request, q *request, err error) {
	p := (*Problem)(nil)
	if !errors.As(err, &p) {
		p = &Problem{Status: http.StatusInternalServerError, Text: "The page cannot be made: " + err.Error()}
		if errors.Is(err, context.DeadlineExceeded) {
			p = &Problem{Status: http.StatusServiceUnavailable, Text: "The page takes too long now; try again."}
		}
	}
	if q == nil && p.Log && r.Method == http.MethodGet && strings.Contains(r.Header.Get("Accept"), "text/html") {
		c.cell.KeepPage(w, r)
	}
	if q == nil {
		q = &request{Request: r, console: c, session: visitor{}, query: r.URL.Query()}
	} else if q.moment == nil {
		q.moment, _ = c.cell.Moment(r.Context(), "")
	}
	f := c.frame(q)
	f.Problem, f.Title, f.Live = p, http.StatusText(p.Status), false
	if followed(r) {
		f.Again = "/" + strings.TrimLeft(r.URL.RequestURI(), "/")
	}
	c.write(w, r, p.Status, "problem", f)
}

// followed reports whether a person has followed a link of another site to a page: the browser has not sent the
// session, or it was not accepted, because of that. A log-in is not a page: its link decides which user is logged in.
func followed(r *http.Request) bool {
	switch r.Header.Get("Sec-Fetch-Site") {
	case "cross-site", "same-site":
		return r.Method == http.MethodGet && !strings.HasPrefix(r.URL.Path, "/login")
	}
	return false
}

// Refuse answers a request from outside the pages with a page that says what is wrong.
func (c *Console) Refuse(w http.ResponseWriter, r *http.Request, p *Problem) {
	session, release, err := c.cell.Session(r, "")
	if err != nil {
		c.refuse(w, r, nil, p)
		return
	}
	defer release()
	c.refuse(w, r, &request{Request: r, console: c, session: session, query: r.URL.Query()}, p)
}
