package web

import (
	"html/template"
	"net/http"
	"net/url"

	"github.com/quill-grid/quill/tools/web/problem"
)

// login exchanges the secret of a link for a cookie.
func (s *Server) login(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet {
		w.Header().Set("Allow", http.MethodGet)
		s.refuseRequest(w, r, problem.Unrouted(r, http.StatusMethodNotAllowed))
		return
	}
	cookie, err := s.entry.ExchangeLink(r, r.PathValue("secret"))
	if err != nil {
		s.refuseRequest(w, r, err)
		return
	}
	http.SetCookie(w, cookie)
	w.Header().Set("Location", s.entry.TakePage(w, r))
	w.WriteHeader(http.StatusSeeOther)
}

var loginPages = template.Must(template.ParseFS(files, "page/login.html", "page/entered.html"))

// page sends one of the pages of a log-in.
func (s *Server) page(w http.ResponseWriter, name string, data any) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Content-Security-Policy", pageSecurity)
	if err := loginPages.ExecuteTemplate(w, name, data); err != nil {
		s.options.Logger.Debug("page was not sent", "error", err)
	}
}

// loginPage shows the ways to log in.
func (s *Server) loginPage(w http.ResponseWriter, r *http.Request) {
	p, err := s.entry.Provider()
	if err != nil {
		s.refuseRequest(w, r, err)
		return
	}
	page := struct{ Cell, Provider string }{Cell: s.options.Cell}
	if p != nil {
		page.Provider = p.Issuer
		if u, err := url.Parse(p.Issuer); err == nil {
			page.Provider = u.Host
		}
	}
	s.page(w, "login.html", page)
}

// beginLogIn sends a browser to the identity provider.
func (s *Server) beginLogIn(w http.ResponseWriter, r *http.Request) {
	to, cookie, err := s.entry.BeginLogIn(r)
	if err != nil {
		s.refuseRequest(w, r, err)
		return
	}
	http.SetCookie(w, cookie)
	w.Header().Set("Location", to)
	w.WriteHeader(http.StatusSeeOther)
}

// endLogIn takes a browser that comes back from the identity provider with a code. A redirection would be part of the
// navigation that a page of the provider has begun: browsers send no strict cookies with it, and a Sec-Fetch-Site for
// which the session is refused. So a page of this server leads on.
func (s *Server) endLogIn(w http.ResponseWriter, r *http.Request) {
	http.SetCookie(w, s.entry.EndedFlow(r)) // whatever comes of it
	cookie, err := s.entry.EndLogIn(r)
	if err != nil {
		s.refuseRequest(w, r, err)
		return
	}
	http.SetCookie(w, cookie)
	s.page(w, "entered.html", struct{ Cell, Page string }{s.options.Cell, s.entry.TakePage(w, r)})
}
