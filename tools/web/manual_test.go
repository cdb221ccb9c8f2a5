package web

import (
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/kballard/go-shellquote"

	"github.com/quill-grid/quill/tools/web/problem"
)

// TestManual runs the curl examples of the chapters, each on a cell that has what they are about: every one is answered
// without an error, and there is one for each route. Its table has all types of problems.
func TestManual(t *testing.T) {
	var text []byte
	for _, page := range []string{"../manual/api.md", "../manual/fbsng.md", "../manual/gridserver.md",
		"../manual/scoot.md"} {
		more, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		text = append(text, more...)
	}
	shown, types := map[string]bool{}, strings.Join(strings.Fields(string(text)), " ")
	var c *testCell
	for line := range strings.Lines(string(text)) {
		if !strings.HasPrefix(line, "curl ") {
			continue
		}
		if c == nil {
			c = authorizationCell(t)
		}
		method, target, body, header := curl(t, c.loggedIn(line))
		if method == "POST" && target == "/v1/jobs/1/release" {
			c.request("POST", "/v1/jobs/1/hold", "{}", header)
		}
		w := c.request(method, target, body, header)
		if w.Code >= 400 {
			t.Errorf("%s%d %s", line, w.Code, w.Body)
		}
		_, route := c.server.mux.Handler(mustRequest(method, target))
		shown[strings.TrimSpace(route)] = true
		if method != "GET" {
			c.stop()
			c = nil
		}
	}
	for _, r := range routes(newCell(t, 1).server.api.OpenAPI()) {
		if !shown[r.Method+" "+r.Path] {
			t.Errorf("the chapter has no example of %s %s", r.Method, r.Path)
		}
	}
	for _, kind := range problem.OfAnswers() {
		if !strings.Contains(types, "`"+kind+"`") {
			t.Errorf("the chapter has no problem %s", kind)
		}
	}
}

// loggedIn fills in the secrets of a browser, where a line has them.
func (c *testCell) loggedIn(line string) string {
	switch {
	case strings.Contains(line, "$LINK"):
		c.makeLink("root", false)
	case strings.Contains(line, "-b cookies"):
		c.logIn("root")
	}
	return strings.NewReplacer("$LINK", "$API"+c.browser.path, "-b cookies", "-H 'Cookie: "+c.browser.cookie+"'", "$CSRF",
		c.browser.csrf).Replace(line)
}

func mustRequest(method, target string) *http.Request {
	r, err := http.NewRequest(method, target, nil)
	if err != nil {
		panic(err)
	}
	return r
}

// curl reads a command line.
func curl(t *testing.T, line string) (method, target, body string, header http.Header) {
	words, err := shellquote.Split(line)
	if err != nil {
		t.Fatal(err)
	}
	method, header = "GET", http.Header{}
	for i := 1; i < len(words); i++ {
		switch words[i] {
		case "-N":
		case "-X", "-d", "-H", "-c":
			i++
			switch words[i-1] {
			case "-X":
				method = words[i]
			case "-d":
				if body = words[i]; method == "GET" {
					method = "POST"
				}
			case "-H":
				name, value, _ := strings.Cut(words[i], ": ")
				header.Set(name, strings.ReplaceAll(value, "$TOKEN", "token-root"))
			}
		default:
			target = strings.TrimPrefix(words[i], "$API")
		}
	}
	return method, target, body, header
}
