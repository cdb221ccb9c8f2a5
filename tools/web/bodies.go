package web

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/quill-grid/quill/pkg/fair"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/tools/web/entry"
	"github.com/quill-grid/quill/tools/web/problem"
)

// Bounds of the bodies of requests. A body is read when it is known whose it is, whether the token may change anything,
// and when there is room for what it becomes in memory.
const (
	bodyMax   = 16 << 20 // job scripts and several objects of configuration
	bodySmall = 64 << 10 // of a token that does not change anything
	bodyWait  = 10 * time.Second

	// Values of JSON cost up to valueCost bytes for each byte of text, and a body has valuesMost of them and one more for
	// each valueText bytes.
	valueCost  = 40
	valuesMost = 25_000
	valueText  = 64
	valuesCost = 8 << 20 // of valuesMost
)

// newBodies returns the memory of the bodies that are read or being carried out.
func newBodies() *fair.Places {
	return fair.NewPlaces("web memory of requests", fair.Limits{Total: 256 << 20, User: 64 << 20, Waiting: 256})
}

// memoryOfBody is what a body of so many bytes costs at most while it is read and decoded.
func memoryOfBody(n int64) int { return int(2*n + min(valueCost*n, valuesCost)) }

// admitBody waits until the body of a request may be read. leave ends that. The error is a problem.
func (s *handlers) admitBody(r *http.Request, who fair.User, scope grid.Scope) (leave func(), err error) {
	n := r.ContentLength
	switch {
	case n == 0 || r.Body == nil:
		return func() {}, nil
	case n > bodyMax:
		return nil, problem.New(http.StatusRequestEntityTooLarge, problem.TypeLarge, "body",
			fmt.Sprintf("the body has %d bytes, at most %d are read", n, bodyMax))
	case n < 0:
		n = bodyMax
	}
	if scope < grid.ScopeSubmit && n > bodySmall {
		if r.ContentLength > 0 {
			return nil,
				problem.New(http.StatusForbidden, "scope", "",
					fmt.Sprintf(
						"denied: a token of the scope %s sends at most %d bytes; make another token with `quill token create --scope %s`",
						scope, bodySmall, grid.ScopeSubmit))
		}
		n, r.Body = bodySmall, http.MaxBytesReader(nil, r.Body, bodySmall)
	}
	ctx, cancel := context.WithTimeout(r.Context(), bodyWait)
	defer cancel()
	leave, err = s.bodies.Wait(ctx, who, memoryOfBody(n))
	if errors.Is(err, context.DeadlineExceeded) {
		return nil, problem.New(http.StatusServiceUnavailable, problem.TypeBusy, "",
			"other requests take all memory that there is for them, try again later")
	}
	if err != nil {
		return nil, problem.NoPlace(err, "requests")
	}
	return leave, nil
}

// admitForm is admitBody for a form of the console, whose session is found before the form is read. Without one nothing
// is read.
func (s *handlers) admitForm(r *http.Request) (leave func(), err error) {
	if r.Method != http.MethodPost || strings.HasPrefix(r.URL.Path, "/v1/") {
		return func() {}, nil // see middleware
	}
	if r.Header.Get("Authorization") != "" {
		return s.admitBody(r, fair.User{Name: entry.ClientOf(r)}, grid.ScopeRead)
	}
	if user, ok := s.entry.SessionUser(r); ok {
		return s.admitBody(r, fair.User{Name: user}, grid.ScopeOperate)
	}
	r.Body, r.ContentLength = http.NoBody, 0
	return func() {}, nil
}

// countedJSON returns the formats of bodies, of which JSON with too many values is refused before it is decoded.
func countedJSON(all map[string]huma.Format) map[string]huma.Format {
	all = maps.Clone(all)
	for name, f := range all {
		decode := f.Unmarshal
		f.Unmarshal = func(data []byte, v any) error {
			if most := valuesMost + len(data)/valueText; valuesOf(data) > most {
				return fmt.Errorf("a body of %d bytes has at most %d values", len(data), most)
			}
			return decode(data, v)
		}
		all[name] = f
	}
	return all
}

// valuesOf returns how many values and names a text of JSON has at most.
func valuesOf(text []byte) (n int) {
	quoted := false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '"':
			quoted = !quoted
		case quoted && c == '\\':
			i++
		case !quoted && (c == ',' || c == ':' || c == '[' || c == '{'):
			n++
		}
	}
	return n + 1
}
