package problem

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/quill-grid/quill/pkg/bus"
	"github.com/quill-grid/quill/pkg/client"
	"github.com/quill-grid/quill/pkg/fair"
	"github.com/quill-grid/quill/pkg/gdi"
)

// Prefix begins the type of every problem: programs compare types, which are never renamed.
const Prefix = "urn:quill:problem:"

// The types of problems that qmaster does not report.
const (
	TypeToken     = "token"       // 401: no token, or one that is not valid
	TypeLink      = "link"        // 401: a link that is wrong, was used or is too old
	TypeLogIn     = "log-in"      // 403: the identity provider or qmaster refuses a log-in
	TypeProvider  = "no-provider" // 503: the identity provider cannot be used
	TypeCrossSite = "cross-site"  // 403: a session is used from the page of another server
	TypeCSRF      = "csrf"        // 403: a change with a cookie without the header Quill-CSRF
	// 403: the certificate of the client was revoked, or its revocation list is out of date
	TypeCertificate = "certificate"
	TypeRate        = "rate"           // 429: too many wrong tokens or links
	TypeInvalid     = "invalid"        // 422, 400: the request makes no sense; errors name the fields
	TypeUnknown     = "unknown"        // 404: there is no such object or path
	TypeMethod      = "method"         // 405
	TypeAcceptable  = "not-acceptable" // 406
	TypeLarge       = "too-large"      // 413, 431
	TypeMedia       = "media-type"     // 415
	TypeLag         = "mirror-lag"     // 503: the mirror has not reached ?after=
	TypeMirror      = "no-mirror"      // 503: no state has been received yet
	TypeQMaster     = "no-qmaster"     // 503: qmaster cannot be reached
	TypeBusy        = "busy"           // 503: too much at a time
	TypeGone        = "not-in-log"     // 410: the log does not go back that far
	TypeInternal    = "internal"       // 500: a bug
)

// byStatus are the types of problems that huma reports, by HTTP status.
var byStatus = map[int]string{
	400: TypeInvalid, 401: TypeToken, 404: TypeUnknown, 405: TypeMethod, 406: TypeAcceptable, 408: TypeInvalid,
	413: TypeLarge, 415: TypeMedia, 422: TypeInvalid, 500: TypeInternal,
}

// answerKind is a problem that qmaster reports.
type answerKind struct {
	status int
	name   string
}

// kindOf returns the problem of a refusal.
func kindOf(s gdi.Status) answerKind {
	if kind, known := byAnswer[s]; known {
		return kind
	}
	return byAnswer[gdi.StatusInvalid]
}

// StatusOf returns the status of HTTP of an answer of qmaster.
func StatusOf(s gdi.Status) int {
	if s == gdi.StatusOK {
		return http.StatusOK
	}
	return kindOf(s).status
}

// byAnswer are the problems that qmaster reports.
var byAnswer = map[gdi.Status]answerKind{
	gdi.StatusDenied:   {http.StatusForbidden, "denied"},
	gdi.StatusUnknown:  {http.StatusNotFound, TypeUnknown},
	gdi.StatusExists:   {http.StatusConflict, "exists"},
	gdi.StatusInvalid:  {http.StatusUnprocessableEntity, TypeInvalid},
	gdi.StatusStale:    {http.StatusConflict, "stale"},
	gdi.StatusNoDaemon: {http.StatusServiceUnavailable, "no-daemon"},
	gdi.StatusShutdown: {http.StatusServiceUnavailable, TypeQMaster},
	gdi.StatusNotYet:   {http.StatusServiceUnavailable, "not-yet"},
	gdi.StatusNotOwner: {http.StatusForbidden, "not-owner"},
	gdi.StatusLimit:    {http.StatusTooManyRequests, "limit"},
	gdi.StatusToken:    {http.StatusUnauthorized, TypeToken},
	gdi.StatusScope:    {http.StatusForbidden, "scope"},
	gdi.StatusLogIn:    {http.StatusForbidden, TypeLogIn},
	gdi.StatusWaiting:  {http.StatusConflict, "waiting"},
	gdi.StatusInUse:    {http.StatusConflict, "in-use"},
}

// OfAnswers returns the types of the problems that qmaster reports.
func OfAnswers() (names []string) {
	for _, kind := range byAnswer { // order: a set
		names = append(names, kind.name)
	}
	return names
}

// New returns an error as RFC 9457 has it. where, if not empty, is the field that is wrong, as query.limit.
func New(status int, name, where, detail string) *huma.ErrorModel {
	p := &huma.ErrorModel{Type: Prefix + name, Title: http.StatusText(status), Status: status, Detail: detail}
	if where != "" {
		p.Errors = []*huma.ErrorDetail{{Location: where, Message: detail}}
	}
	return p
}

// Invalid is the problem of a field.
func Invalid(where string, err error) *huma.ErrorModel {
	return New(http.StatusUnprocessableEntity, TypeInvalid, where, strings.TrimPrefix(err.Error(), "error: "))
}

// OfReply is the problem that qmaster's answers report: nil when all are good. Each text is an error of its own; the
// first decides on the type. where returns the field of the request that an answer is about, "" when it is about none.
func OfReply(reply gdi.Reply, where func(gdi.Answer) string) error {
	var p *huma.ErrorModel
	for _, a := range reply.Answers {
		if a.Status == gdi.StatusOK {
			continue
		}
		if p == nil {
			kind := kindOf(a.Status)
			p = New(kind.status, kind.name, "", a.Text)
		}
		p.Errors = append(p.Errors, &huma.ErrorDetail{Location: where(a), Message: a.Text})
	}
	if p == nil {
		return nil
	}
	return p
}

// NoMirror is the problem that no state of the cell has been received yet.
func NoMirror(err error) *huma.ErrorModel {
	return New(http.StatusServiceUnavailable, TypeMirror, "", err.Error())
}

// Nowhere is the where of OfReply for requests without fields.
func Nowhere(gdi.Answer) string { return "" }

// Unreachable is the problem that qmaster was not asked or has not answered.
func Unreachable(err error) error {
	if errors.Is(err, bus.ErrRefused) {
		return NoToken("the cell does not accept the token any more")
	}
	if away := (*client.Unreachable)(nil); errors.As(err, &away) {
		return New(http.StatusServiceUnavailable, TypeQMaster, "", away.Send())
	}
	return New(http.StatusServiceUnavailable, TypeQMaster, "", strings.TrimPrefix(err.Error(), "error: "))
}

// byStatusOnly are where the problems of huma are that have no list of errors.
var byStatusOnly = map[int]string{400: "body", 408: "body", 413: "body"}

// AddType is a transformer of answers: it gives the problems of huma their type, and each a location.
func AddType(_ huma.Context, _ string, v any) (any, error) {
	if p, ok := v.(*huma.ErrorModel); ok && p.Type == "" {
		if where := byStatusOnly[p.Status]; where != "" && len(p.Errors) == 0 {
			if p.Status == http.StatusBadRequest { // huma reads anything else that it is sent
				p.Detail += ": a JSON object, as /v1/docs describes it"
			}
			p.Errors = []*huma.ErrorDetail{{Location: where, Message: p.Detail}}
		}
		if p.Detail == "validation failed" && len(p.Errors) > 0 { // the text of huma for all
			p.Detail = strings.TrimPrefix(p.Errors[0].Location+": "+p.Errors[0].Message, ": ")
			if n := len(p.Errors) - 1; n > 0 {
				p.Detail = fmt.Sprintf("%s, and %d more in errors", p.Detail, n)
			}
		}
		name, known := byStatus[p.Status]
		if !known {
			name = TypeInternal
		}
		p.Type = Prefix + name
		for _, e := range p.Errors {
			e.Value = nil // it may hold a password
		}
	}
	return v, nil
}

// Write answers with a problem outside of huma.
func Write(w http.ResponseWriter, p *huma.ErrorModel) {
	w.Header().Set("Content-Type", "application/problem+json")
	if p.Status == http.StatusUnauthorized {
		w.Header().Set("WWW-Authenticate", challenge)
	}
	w.WriteHeader(p.Status)
	_ = json.NewEncoder(w).Encode(p)
}

// CheckQuery refuses a query of which a part would be passed over: a parameter that cannot be read, that is there
// twice, or that has no value. Forms of the console send some without, and the first page has no cursor. The error is a
// problem.
func CheckQuery(u *url.URL) error {
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
			return Invalid("query."+name, err)
		}
		seen[name] = true
	}
	return nil
}

// Unrouted is the problem of a request for which there is no route.
func Unrouted(r *http.Request, status int) *huma.ErrorModel {
	if status == http.StatusMethodNotAllowed {
		return New(status, TypeMethod, "", fmt.Sprintf("%s is not answered to %s; see the header Allow",
			r.URL.Path, r.Method))
	}
	return New(http.StatusNotFound, TypeUnknown, "",
		fmt.Sprintf("there is no %s; /v1/openapi.json lists what there is", r.URL.Path))
}

// challenge is the header WWW-Authenticate.
const challenge = `Bearer realm="quill"`

// NoToken is the problem of a request without a valid token.
func NoToken(why string) *huma.ErrorModel {
	return New(http.StatusUnauthorized, TypeToken, "header.Authorization",
		why+`; make one with "quill token create" and send the header "Authorization: Bearer TOKEN"`)
}

// NoPlace is the problem that there is no place for one more of what, or the error of the request's end.
func NoPlace(err error, what string) error {
	if full := (*fair.Full)(nil); errors.As(err, &full) {
		whose := "are in use"
		if full.Own {
			whose = "of this user are in use"
		}
		return New(http.StatusServiceUnavailable, TypeBusy, "",
			fmt.Sprintf("%d %s %s, try again later", full.Most, what, whose))
	}
	return err
}

// Limited is the problem of a client that has to wait.
type Limited struct {
	Wait time.Duration // until others are checked
	Most int           // different wrong tokens and links that are checked
}

func (l *Limited) Error() string {
	return fmt.Sprintf(
		"%d different wrong tokens or links came from this client within a minute; others are checked when it is over",
		l.Most)
}

// Refuse answers a request that was not authenticated: err is *Limited or a problem.
func Refuse(w http.ResponseWriter, err error) {
	var p *huma.ErrorModel
	if l := (*Limited)(nil); errors.As(err, &l) {
		w.Header().Set("Retry-After", strconv.Itoa(int(math.Ceil(l.Wait.Seconds()))))
		p = New(http.StatusTooManyRequests, TypeRate, "", l.Error())
	} else if !errors.As(err, &p) {
		p = New(http.StatusInternalServerError, TypeInternal, "", err.Error())
	}
	Write(w, p)
}
