package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	reports "github.com/quill-grid/quill/pkg/report"
	"github.com/quill-grid/quill/tools/manual"
)

// TestFailureCodes compares the table of codes in the chapter on troubleshooting with what the codes mean.
func TestFailureCodes(t *testing.T) {
	text, err := manual.Text("troubleshooting")
	if err != nil {
		t.Fatal(err)
	}
	faults := map[reports.Fault]string{
		reports.NoFault: "-", reports.JobFault: "job", reports.QueueFault: "queue", reports.HostFault: "host"}
	next := map[reports.Next]string{reports.Over: "is over", reports.Again: "is started again",
		reports.AgainIfRerunnable: "is started again if rerunnable"}
	rows := regexp.MustCompile(`(?m)^\| (\d+) \| ([^|]+) \| ([^|]+) \| ([^|]+) \|`).FindAllStringSubmatch(text, -1)
	if len(rows) == 0 {
		t.Fatal("there is no table of codes")
	}
	for _, row := range rows {
		n, _ := strconv.Atoi(row[1])
		code := reports.Failure(n)
		fault := faults[code.Fault(false)]
		if own := faults[code.Fault(true)]; own != fault {
			fault += " or " + own
		}
		after, _, _ := strings.Cut(row[4], " after ")
		if row[2] != code.String() || row[3] != fault || after != next[code.Next()] {
			t.Errorf("code %d is %q, state E of %s, the job %s: the table has %q", n, code, fault, next[code.Next()], row[0])
		}
	}
}

// listeners are the files that listen, each with the line of the chapter on ports that is about its listener.
var listeners = map[string]string{
	"pkg/bus/network.go":            "| qmaster, for the cell |",
	"pkg/metrics/serve.go":          "| execd, metrics |",
	"tools/web/web.go":              "| API and console, `quill web` |",
	"tools/mcp/command.go":          "| `quill mcp` |",
	"tools/ge/qrsh/session/door.go": "| `qrsh`, `qlogin`, `qrsh -inherit` |",
	"tools/attack/site.go":          "- `quill attack`, `quill bench` and `quill demo` run throw-away cells",
	"pkg/bus/socket.go":             "| `quill.sock` |",
	"tools/web/local.go":            "| `web.sock` |",
	"execd/shepherd/run.go":         "| `execd/HOST/shepherd/shepherd.sock` |",
}

// TestPorts checks that the chapter on ports has each listener of the programs.
func TestPorts(t *testing.T) {
	text, err := manual.Text("ports")
	if err != nil {
		t.Fatal(err)
	}
	project, found := projectDir(t), map[string]bool{}
	listen := regexp.MustCompile(`\b(net|fair|listen)\.Listen(Unix)?\(|http\.ListenAndServe`)
	err = filepath.WalkDir(project, func(path string, e fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") ||
			strings.Contains(path, "/bustest/") { // which tests import
			return err
		}
		source, err := os.ReadFile(path)
		if listen.Match(source) {
			name, _ := filepath.Rel(project, path)
			found[name] = true
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	delete(found, "pkg/fair/listener.go") // ListenUnix itself
	for name := range found {
		if row := listeners[name]; row == "" || !strings.Contains(text, row) {
			t.Errorf("%s listens, and the chapter on ports has no line %q", name, row)
		}
	}
	for name := range listeners {
		if !found[name] {
			t.Errorf("%s does not listen any more", name)
		}
	}
}
