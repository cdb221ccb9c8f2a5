package web

import (
	"net/http"
	"strings"

	"github.com/quill-grid/quill/tools/web/problem"
)

// refuseRequest answers with what problem.Refuse takes: a person in front of a browser gets a page of the console.
func (s *Server) refuseRequest(w http.ResponseWriter, r *http.Request, err error) {
	if !strings.HasPrefix(r.URL.Path, "/v1/") && strings.Contains(r.Header.Get("Accept"), "text/html") {
		s.console.Refuse(w, r, pageProblem(err))
		return
	}
	problem.Refuse(w, err)
}
