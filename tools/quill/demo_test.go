package main

import (
	"bufio"
	"io"
	"net/http"
	"net/http/cookiejar"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// TestDemoPages: quill demo --web prints a link that logs a browser in, and serves the run after its end until it is
// interrupted.
func TestDemoPages(t *testing.T) {
	program, err := exec.LookPath("quill")
	if err != nil {
		t.Fatal(err)
	}
	demo := exec.CommandContext(t.Context(), program, "demo", "--web", "--span", "500ms", "--jobs", "15")
	demo.Stderr = t.Output()
	out, err := demo.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := demo.Start(); err != nil {
		t.Fatal(err)
	}
	link, looked := "", false
	for lines := bufio.NewScanner(out); lines.Scan(); {
		line := lines.Text()
		if _, at, found := strings.Cut(line, "which this link logs in once: "); found {
			link = at
		}
		if strings.Contains(line, "The run can be looked at") {
			looked = true
			if page := browse(t, link); !strings.Contains(page, `<h1 class="sr">Cell`) {
				t.Errorf("%s shows:\n%s", link, page)
			}
			if err := demo.Process.Signal(os.Interrupt); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := demo.Wait(); err != nil || !looked {
		t.Errorf("%v, looked at it: %t", err, looked)
	}
}

// browse returns the page that a link leads to.
func browse(t *testing.T, link string) string {
	jar, _ := cookiejar.New(nil) // cannot fail
	answer, err := (&http.Client{Jar: jar}).Get(link)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	page, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode != http.StatusOK {
		t.Fatal(answer.Status, err)
	}
	return string(page)
}
