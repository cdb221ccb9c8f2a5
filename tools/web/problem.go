package web

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/quill-grid/quill/pkg/bus"
	"github.com/quill-grid/quill/pkg/client"
	"github.com/quill-grid/quill/pkg/gdi"
)

// problemPrefix begins the type of every problem: programs compare types, which are never renamed.
const problemPrefix = "urn:quill:problem:"

// The types of problems that qmaster does not report.
const (
	problemToken       = "token"          // 401: no token, or one that is not valid
	problemLink        = "link"           // 401: a link that is wrong, was used or is too old
	problemLogIn       = "log-in"         // 403: the identity provider or qmaster refuses a log-in
	problemProvider    = "no-provider"    // 503: the identity provider cannot be used
	problemCrossSite   = "cross-site"     // 403: a session is used from the page of another server
	problemCSRF        = "csrf"           // 403: a change with a cookie without the header Quill-CSRF
	problemCertificate = "certificate"    // 403: the certificate of the client was revoked, or its revocation list is out of date
	problemRate        = "rate"           // 429: too many wrong tokens or links
	problemInvalid     = "invalid"        // 422, 400: the request makes no sense; errors name the fields
	problemUnknown     = "unknown"        // 404: there is no such object or path
	problemMethod      = "method"         // 405
	problemAcceptable  = "not-acceptable" // 406
	problemLarge       = "too-large"      // 413, 431
	problemMedia       = "media-type"     // 415
	problemLag         = "mirror-lag"     // 503: the mirror has not reached ?after=
	problemMirror      = "no-mirror"      // 503: no state has been received yet
	problemQMaster     = "no-qmaster"     // 503: qmaster cannot be reached
	problemBusy        = "busy"           // 503: too much at a time
	problemGone        = "not-in-log"     // 410: the log does not go back that far
	problemInternal    = "internal"       // 500: a bug
)

// byStatus are the types of problems that huma reports, by HTTP status.
var byStatus = map[int]string{
	400: problemInvalid, 401: problemToken, 404: problemUnknown, 405: problemMethod, 406: problemAcceptable, 408: problemInvalid,
	413: problemLarge, 415: problemMedia, 422: problemInvalid, 500: problemInternal,
}

// byAnswer are the problems that qmaster reports.
var byAnswer = map[gdi.Status]struct {
	status int
	name   string
}{
	gdi.StatusDenied:   {http.StatusForbidden, "denied"},
	gdi.StatusUnknown:  {http.StatusNotFound, problemUnknown},
	gdi.StatusExists:   {http.StatusConflict, "exists"},
	gdi.StatusInvalid:  {http.StatusUnprocessableEntity, problemInvalid},
	gdi.StatusStale:    {http.StatusConflict, "stale"},
	gdi.StatusNoDaemon: {http.StatusServiceUnavailable, "no-daemon"},
	gdi.StatusShutdown: {http.StatusServiceUnavailable, problemQMaster},
	gdi.StatusNotYet:   {http.StatusServiceUnavailable, "not-yet"},
	gdi.StatusNotOwner: {http.StatusForbidden, "not-owner"},
	gdi.StatusLimit:    {http.StatusTooManyRequests, "limit"},
	gdi.StatusToken:    {http.StatusUnauthorized, problemToken},
	gdi.StatusScope:    {http.StatusForbidden, "scope"},
	gdi.StatusLogIn:    {http.StatusForbidden, problemLogIn},
	gdi.StatusWaiting:  {http.StatusConflict, "waiting"},
	gdi.StatusInUse:    {http.StatusConflict, "in-use"},
}

// problem returns an error as RFC 9457 has it. where, if not empty, is the field that is wrong, as query.limit.
func problem(status int, name, where, detail string) *huma.ErrorModel {
	p := &huma.ErrorModel{Type: problemPrefix + name, Title: http.StatusText(status), Status: status, Detail: detail}
	if where != "" {
		p.Errors = []*huma.ErrorDetail{{Location: where, Message: detail}}
	}
	return p
}

// invalid is the problem of a field.
func invalid(where string, err error) *huma.ErrorModel {
	return problem(http.StatusUnprocessableEntity, problemInvalid, where, strings.TrimPrefix(err.Error(), "error: "))
}

// refused is what qmaster's answers say: nil when all are good. Each text is an error of its own; the first decides on the type. where returns the field of
// the request that an answer is about, "" when it is about none.
func refused(reply gdi.Reply, where func(gdi.Answer) string) error {
	var p *huma.ErrorModel
	for _, a := range reply.Answers {
		if a.Status == gdi.StatusOK {
			continue
		}
		if p == nil {
			kind, known := byAnswer[a.Status]
			if !known {
				kind = byAnswer[gdi.StatusInvalid]
			}
			p = problem(kind.status, kind.name, "", a.Text)
		}
		p.Errors = append(p.Errors, &huma.ErrorDetail{Location: where(a), Message: a.Text})
	}
	if p == nil {
		return nil
	}
	return p
}

// nowhere is for requests without fields.
func nowhere(gdi.Answer) string { return "" }

// unreachable is the problem that qmaster was not asked or has not answered.
func unreachable(err error) error {
	if errors.Is(err, bus.ErrRefused) {
		return noToken("the cell does not accept the token any more")
	}
	if away := (*client.Unreachable)(nil); errors.As(err, &away) {
		return problem(http.StatusServiceUnavailable, problemQMaster, "", away.Send())
	}
	return problem(http.StatusServiceUnavailable, problemQMaster, "", strings.TrimPrefix(err.Error(), "error: "))
}

// byStatusOnly are where the problems of huma are that have no list of errors.
var byStatusOnly = map[int]string{400: "body", 408: "body", 413: "body"}

// typed gives the problems of huma their type, and each a location.
func typed(_ huma.Context, _ string, v any) (any, error) {
	if p, ok := v.(*huma.ErrorModel); ok && p.Type == "" {
		if where := byStatusOnly[p.Status]; where != "" && len(p.Errors) == 0 {
			if p.Status == http.StatusBadRequest { // huma reads anything else that it is sent
				p.Detail += ": a JSON object, as /v1/docs describes it"
			}
			p.Errors = []*huma.ErrorDetail{{Location: where, Message: p.Detail}}
		}
		name, known := byStatus[p.Status]
		if !known {
			name = problemInternal
		}
		p.Type = problemPrefix + name
		for _, e := range p.Errors {
			e.Value = nil // it may hold a password
		}
	}
	return v, nil
}

// writeProblem answers with a problem outside of huma.
func writeProblem(w http.ResponseWriter, p *huma.ErrorModel) {
	w.Header().Set("Content-Type", "application/problem+json")
	if p.Status == http.StatusUnauthorized {
		w.Header().Set("WWW-Authenticate", challenge)
	}
	w.WriteHeader(p.Status)
	_ = json.NewEncoder(w).Encode(p)
}

// checkQuery refuses a query of which a part would be passed over: a parameter that cannot be read, that is there twice, or that has no value. Forms
// of the console send some without, and the first page has no cursor. The error is a problem.
func checkQuery(u *url.URL) error {
	seen := map[string]bool{}
	for part := range strings.SplitSeq(u.RawQuery, "&") {
		name, value, _ := strings.Cut(part, "=")
		name, wrong := url.QueryUnescape(name)
		value, err := url.QueryUnescape(value)
		err = errors.Join(wrong, err)
		switch {
		case part == "":
			continue
		case err == nil && strings.Contains(part, ";"):
			err = errors.New("a semicolon is written %3B")
		case err == nil && seen[name]:
			err = errors.New("it is there more than once; a list has commas")
		case err == nil && value == "" && name != "cursor" && strings.HasPrefix(u.Path, "/v1/"):
			err = errors.New("it has no value")
		}
		if err != nil {
			return invalid("query."+name, err)
		}
		seen[name] = true
	}
	return nil
}

// unrouted is the problem of a request for which there is no route.
func unrouted(r *http.Request, status int) *huma.ErrorModel {
	if status == http.StatusMethodNotAllowed {
		return problem(status, problemMethod, "", fmt.Sprintf("%s is not answered to %s; see the header Allow", r.URL.Path, r.Method))
	}
	return problem(http.StatusNotFound, problemUnknown, "", fmt.Sprintf("there is no %s; /v1/openapi.json lists what there is", r.URL.Path))
}

// explain answers with what refuse takes: a person in front of a browser gets a page of the console.
func (s *Server) explain(w http.ResponseWriter, r *http.Request, err error) {
	if !strings.HasPrefix(r.URL.Path, "/v1/") && strings.Contains(r.Header.Get("Accept"), "text/html") {
		s.console.Refuse(w, r, pageProblem(err))
		return
	}
	refuse(w, err)
}
