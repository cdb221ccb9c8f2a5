package console

import (
	"context"
	"embed"
	"html/template"
	"net/http"
	"strings"
)

//go:embed templates
var templates embed.FS

// pages are all pages, in the order of the navigation.
var pages = []page{
	overviewPage, jobsPage, jobPage, outputPage, hostsPage, hostPage, queuesPage, quotasPage, reservationsPage, planPage,
	sharesPage, schedulerPage, whatIfPage, trialPage, proposalsPage, configPage, logPage,
}

// New returns the console of a cell.
func New(c Backend) *Console {
	con := &Console{cell: c, list: pages, pages: map[string]*template.Template{}, assets: loadAssets(), live: newLive()}
	functions := template.FuncMap{}
	for name, f := range format {
		functions[name] = f
	}
	functions["asset"] = func(name string) string { return con.assets[name].path }
	base := template.Must(template.New("layout.html").Funcs(functions).ParseFS(templates, "templates/layout.html",
		"templates/parts.html"))
	for _, name := range append([]string{"problem", "confirm"}, names()...) {
		con.pages[name] = template.Must(template.Must(base.Clone()).ParseFS(templates, "templates/"+name+".html"))
	}
	return con
}

func names() (out []string) {
	for _, p := range pages {
		out = append(out, p.name)
	}
	return out
}

// Register adds the routes of the console.
func (c *Console) Register(mux *http.ServeMux) {
	for route, handler := range c.Routes() {
		mux.HandleFunc(route, handler)
	}
}

// Routes returns the routes of the console.
func (c *Console) Routes() map[string]http.HandlerFunc {
	routes := map[string]http.HandlerFunc{
		"POST /act": c.ask, "GET /act/{key}": c.showAct, "POST /act/{key}": c.confirm,
		"POST /logout": c.logout, "POST /whatif": c.try, "POST /whatif/{id}/cancel": c.cancel,
		"GET /static/{name}": c.static,
	}
	for i := range pages {
		routes["GET "+pages[i].path] = func(w http.ResponseWriter, r *http.Request) { c.serve(w, r, &pages[i]) }
	}
	return routes
}

// serve answers a request for a page: with the page, or with the stream of its changes.
func (c *Console) serve(w http.ResponseWriter, r *http.Request, p *page) {
	session, release, err := c.cell.Session(r, "")
	if err != nil {
		c.refuse(w, r, nil, err)
		return
	}
	defer release()
	q := &request{Request: r, console: c, page: p, session: session, query: r.URL.Query()}
	if c.redirectTimes(w, q) {
		return
	}
	if strings.Contains(r.Header.Get("Accept"), "text/event-stream") {
		c.stream(w, q)
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), pageWait)
	defer cancel()
	f, text, err := c.bounded(ctx, q, func(f *frame) []byte { return c.render(p.name, f) })
	if err != nil {
		c.refuse(w, r, q, err)
		return
	}
	status := http.StatusOK
	if f.Problem != nil {
		status = f.Problem.Status
	}
	c.send(w, r, status, text)
}

// bounded makes and renders a page with as many rows as it may have bytes.
func (c *Console) bounded(
	ctx context.Context, q *request, render func(*frame) []byte,
) (f *frame, text []byte, err error) {
	for q.halved = 0; ; {
		if f, err = c.make(ctx, q); err != nil {
			return nil, nil, err
		}
		if text = render(f); len(text) <= pageMost || q.halved == halvings {
			return f, text, nil
		}
		for n := len(text); n > pageMost && q.halved < halvings; n /= 2 {
			q.halved++
		}
	}
}
