package entry

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/quill-grid/quill/pkg/grid"
)

// ParsePublicURL checks the address under which browsers find the server, --public-url, and returns it without a slash
// at its end; "": it is that of the listener.
func ParsePublicURL(text string) (string, error) {
	if text == "" {
		return "", nil
	}
	bad := func(why string) (string, error) {
		return "", fmt.Errorf("--public-url %s: %s; expected is https://HOST[:PORT]", text, why)
	}
	u, err := url.Parse(text)
	switch {
	case err != nil:
		return bad("it is no URL")
	case u.Scheme != "https" && u.Scheme != "http":
		return bad("the scheme is not https")
	case u.Hostname() == "":
		return bad("the host is missing")
	case strings.TrimSuffix(u.Path, "/") != "" || u.RawQuery != "" || u.ForceQuery || u.Fragment != "" || u.User != nil:
		return bad("a path, query, fragment or user is not supported")
	case u.Scheme == "http" && !grid.IsLoopback(u.Hostname()):
		return bad("sessions are not sent over a network without TLS")
	}
	return u.Scheme + "://" + strings.ToLower(u.Host), nil
}

// encrypted reports whether a browser sends its requests over TLS: to a proxy, by --public-url, or to this server.
// Headers in which a proxy may report this are ignored, since every client can send them.
func (a *Authenticator) encrypted(r *http.Request) bool {
	return r.TLS != nil || strings.HasPrefix(a.public, "https:")
}

// port returns the port of the address that browsers use.
func (a *Authenticator) port() string {
	u, err := url.Parse(a.url)
	switch {
	case err == nil && u.Port() != "":
		return u.Port()
	case err == nil && u.Scheme == "https":
		return "443"
	}
	return "80"
}

// crossSite returns the header by which a request was caused by a page of another server, "": none. Another port is
// another server.
func (a *Authenticator) crossSite(r *http.Request) string {
	switch r.Header.Get("Sec-Fetch-Site") {
	case "", "same-origin", "none":
	default:
		return "Sec-Fetch-Site"
	}
	origin := r.Header.Get("Origin")
	if origin == "" {
		return ""
	}
	u, err := url.Parse(origin)
	switch {
	case err != nil, a.public == "" && u.Host != r.Host:
		return "Origin"
	case a.public != "" && !sameOrigin(origin, a.public): // the proxy may have changed the header Host
		return "Origin"
	}
	return ""
}

// sameOrigin compares origins; the port that belongs to a scheme may be missing.
func sameOrigin(a, b string) bool {
	return withoutPort(a) == withoutPort(b)
}

func withoutPort(origin string) string {
	for scheme, port := range map[string]string{"https://": ":443", "http://": ":80"} {
		if strings.HasPrefix(origin, scheme) {
			return strings.TrimSuffix(origin, port)
		}
	}
	return origin
}
