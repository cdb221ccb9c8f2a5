package entry

import (
	"net/http"
	"net/url"
	"strings"
	"time"
)

// Bounds of the page to which a log-in leads back.
const (
	pageLife = 30 * time.Minute
	pagePath = 2000 // bytes
)

// pageCookie returns the cookie with the address of a page; "": it removes that. It is sent when a browser comes back
// from an identity provider, so it is not strict; what it leads to is a page of this server.
func (a *Authenticator) pageCookie(address string, encrypted bool) *http.Cookie {
	c := a.cookie(url.QueryEscape(address), encrypted)
	c.Name += "-page"
	c.SameSite = http.SameSiteLaxMode
	if c.MaxAge = int(pageLife.Seconds()); address == "" {
		c.MaxAge = -1
	}
	return &c
}

// KeepPage has the next log-in of a browser lead to the page that was asked for, within half an hour.
func (a *Authenticator) KeepPage(w http.ResponseWriter, r *http.Request) {
	if address := r.URL.RequestURI(); isPage(address) && len(address) <= pagePath {
		http.SetCookie(w, a.pageCookie(address, a.encrypted(r)))
	}
}

// TakePage returns the page to which a log-in leads, and forgets it.
func (a *Authenticator) TakePage(w http.ResponseWriter, r *http.Request) string {
	c, err := r.Cookie(a.pageCookie("", a.encrypted(r)).Name)
	if err != nil {
		return "/"
	}
	http.SetCookie(w, a.pageCookie("", a.encrypted(r)))
	if address, err := url.QueryUnescape(c.Value); err == nil && isPage(address) {
		return address
	}
	return "/"
}

// isPage reports whether an address is that of a page of this server and no log-in.
func isPage(address string) bool {
	u, err := url.Parse(address)
	return err == nil && u.Host == "" && u.Scheme == "" && strings.HasPrefix(address, "/") &&
		!strings.HasPrefix(address, "//") && !strings.ContainsAny(address, "\\\r\n\t") &&
		!strings.HasPrefix(address, "/login")
}
