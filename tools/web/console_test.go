package web

import (
	"fmt"
	"html"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
)

var (
	mainPart = regexp.MustCompile(`(?s)<main[^>]*>(.*)</main>`)
	unseen   = regexp.MustCompile(`(?s)<svg.*?</svg>|<title>.*?</title>|<select.*?</select>|<input type="hidden"[^>]*>`)
	field    = regexp.MustCompile(`<input [^>]*name="([^"]*)"[^>]*value="([^"]*)"[^>]*>`)
	blocks   = regexp.MustCompile(`</?(h[1-6]|p|li|tr|section|form|nav|table|div|dt|figure|label|ul|ol|pre|details)[ >]`)
	cells    = regexp.MustCompile(`</t[dh]>|</dt>|</button>|</a>`)
	tags     = regexp.MustCompile(`<[^>]*>`)
	blanks   = regexp.MustCompile(`[ \t]+`)
)

// seen is the text of the main part of a page.
func seen(page string) string {
	part := mainPart.FindStringSubmatch(page)
	if part == nil {
		return page
	}
	text := unseen.ReplaceAllString(part[1], "")
	text = field.ReplaceAllString(text, " [$2]")
	text = strings.ReplaceAll(text, "\n", " ")
	text = blocks.ReplaceAllString(text, "\n$0")
	text = cells.ReplaceAllString(text, "$0 | ")
	text = html.UnescapeString(tags.ReplaceAllString(text, ""))
	text = blanks.ReplaceAllString(strings.ReplaceAll(text, "\u202f", " "), " ")
	var out []string
	for line := range strings.Lines(text) {
		if line = strings.Trim(line, " |\n"); line != "" {
			out = append(out, line)
		}
	}
	return strings.Join(out, "\n") + "\n"
}

// see returns a page as the browser shows it.
func (c *testCell) see(path string) string {
	return seenOf(c.request(http.MethodGet, path, "", http.Header{"Cookie": {c.browser.cookie}, "Accept": {"text/html"}}))
}

func seenOf(w *httptest.ResponseRecorder) string {
	out := fmt.Sprintf("%d\n", w.Code)
	if to := w.Header().Get("Location"); to != "" {
		out += "Location: " + to + "\n"
	}
	return out + seen(w.Body.String())
}

// act sends a form of the console to a path; an action is confirmed if a field says so, and the result is the page to
// which it leads.
func (c *testCell) act(path, fields string) string {
	form := url.Values{"csrf": {c.browser.csrf}}
	for line := range strings.Lines(fields) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), "=")
		if name == "csrf" {
			form.Del(name)
		}
		form.Add(name, value)
	}
	return seenOf(c.postForm(path, form, http.Header{"Cookie": {c.browser.cookie}, "Accept": {"text/html"}}))
}

// postForm sends a form, and what follows of an action.
func (c *testCell) postForm(path string, form url.Values, header http.Header) *httptest.ResponseRecorder {
	header.Set("Content-Type", "application/x-www-form-urlencoded")
	w := c.request(http.MethodPost, path, form.Encode(), header)
	isAct := func() bool { return strings.HasPrefix(w.Header().Get("Location"), "/act/") }
	if isAct() && form.Get("confirmed") != "" {
		w = c.request(http.MethodPost, w.Header().Get("Location"), form.Encode(), header)
	}
	if isAct() {
		w = c.request(http.MethodGet, w.Header().Get("Location"), "", header)
	}
	return w
}
