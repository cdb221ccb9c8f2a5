package main

import (
	"context"
	"io"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/quill-grid/quill/pkg/cell"
	"github.com/quill-grid/quill/pkg/client"
	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/opt"
	"github.com/quill-grid/quill/pkg/opt/opttest"
	"github.com/quill-grid/quill/tools/manual"
	"github.com/quill-grid/quill/tools/quill-daemon/serve"
	"github.com/quill-grid/quill/tools/quill-lab/lab"
)

// requests are words with which a command sends a request, by the name of its page. The others need none, or have no
// page of section 1.
var requests = map[string][]string{
	"qalter": {"-p -1 7"}, "qconf": {"-dq no.q"}, "qdel": {"7"}, "qhold": {"7"}, "qlogin": {""}, "qmod": {"-sj 7"},
	"qrdel": {"7"}, "qresub": {"7"}, "qrls": {"7"}, "qrsh": {"true"}, "qrsub": {"-d 10"}, "qsub": {"-b y true"},
	"qacct": {"-j 7"}, "qhost": {"", "-h no"}, "qquota": {""}, "qrstat": {"", "-ar 7"}, "qselect": {"", "-q no.q"},
	"qstat": {"", "-j 7"}, "qevent": {""}, "qping": {"-info localhost 6444 qmaster 1"}, "qsh": {""},
	"sge_share_mon": {"-c 1"},

	"quill-approve": {"7 --yes"}, "quill-reject": {"7"}, "quill-proposals": {"", "7"}, "quill-propose": {"-- qdel 7"},
	"quill-output": {"7"}, "quill-down": {""}, "quill-status": {""}, "quill-token": {"list", "revoke 7"},
	"quill-sched": {"get"}, "quill-why": {"7"}, "quill-log": {"", "verify"}, "quill-metrics": {""}, "quill-trace": {""},
	"quill-replay": {"qstat"}, "quill-backup": {"safe"}, "quill-key": {"revoke user no"}, "quill-login": {"--status"},
	"quill-logout": {""}, "quill-restore": {"no"}, "quill-manual": {"no"}, "quill-unit": {"no"}, "quill-adopt": {""},
	"quill-links": {"no/no"}, "quill-sim": {"--trace no"}, "quill-version": {"no"},
}

// mistakes are words that are wrong by themselves, beyond an option that does not exist.
var mistakes = map[string][]string{
	"qalter": {"-l h_rt= 7", "-p x 7", "-p"}, "qdel": {"", "7.x", "7 -t x"}, "qhold": {"", "-h x 7", "-h", "7.x"},
	"qrls": {"", "-h x 7"}, "qresub": {"", "-h x 7", "7.1"}, "qmod": {"", "-sj"},
	"qsub": {"no-such-script", "", "-p", "-p x -b y true", "-t x -b y true", "-l a=b=c=d -b y true"},
	"qrsh": {"-p x true", "-p", "-inherit"}, "qlogin": {"-p x", "-p"}, "qrsub": {"", "-d x"}, "qrdel": {""},
	"qconf": {"", "-sq"}, "qacct": {"-d x"}, "qping": {"", "-info localhost x qmaster 1"}, "qstat": {"-s x"},
	"quill-propose": {"-- qsub no-such-script"}, "quill-replay": {"qsub no-such-script"},
}

// TestExitStatus runs the command of each page in this process: for help, with mistakes, without a cell, and with a
// qmaster that refuses each request. The section EXIT STATUS must name each status, and no other number.
func TestExitStatus(t *testing.T) {
	t.Chdir(t.TempDir())
	number := regexp.MustCompile(`\b\d+\b`)
	for _, p := range manual.Pages() {
		if p.Section == 5 || p.Name == "quill" {
			continue
		}
		named, seen := map[string]bool{}, statusesOf(t, p.Name)
		for _, n := range number.FindAllString(sectionOf(p.Text, "EXIT STATUS"), -1) {
			named[n] = true
			if seen[n] == nil {
				t.Errorf("%s(%d) names the exit status %s, with which nothing ended here", p.Name, p.Section, n)
			}
		}
		for _, n := range slices.Sorted(maps.Keys(seen)) {
			if !named[n] {
				t.Errorf("%s(%d) does not name the exit status %s: %q", p.Name, p.Section, n, seen[n])
			}
		}
	}
}

// statusesOf returns the exit statuses of a command, each with why and with which words it was run.
func statusesOf(t *testing.T, page string) map[string][]string {
	seen := map[string][]string{}
	run := func(why, words string, connect func(context.Context) (client.Client, error)) {
		env := opt.Here(t.Context()).WithEnviron([]string{"SGE_ROOT=" + t.TempDir(), "HOME=" + t.TempDir()})
		env.Stdin, env.Stdout, env.Stderr = strings.NewReader(""), io.Discard, io.Discard
		env.Connect = connect
		status := strconv.Itoa(runPage(env, page, strings.Fields(words)))
		seen[status] = append(seen[status], why+": "+words)
	}
	nowhere := func(context.Context) (client.Client, error) { return nil, &cell.NotFound{Text: "there is no cell"} }
	help, unknown := "--help", "--no-such-option"
	if gridEngine[page] != nil {
		help, unknown = "-help", "-no_such_option"
	}
	run("help", help, nowhere)
	for _, words := range append(mistakes[page], unknown) {
		run("a mistake", words, nowhere)
	}
	for _, words := range requests[page] {
		run("no cell", words, nowhere)
		for _, status := range []gdi.Status{gdi.StatusUnknown, gdi.StatusNotOwner, gdi.StatusDenied, gdi.StatusLimit} {
			refusing := &opttest.FakeClient{Answer: func(gdi.Body) gdi.Reply {
				return gdi.Reply{Answers: []gdi.Answer{gdi.Deny(status, "denied")}}
			}}
			run("refused", words, func(context.Context) (client.Client, error) { return refusing, nil })
		}
	}
	return seen
}

// runPage runs the command of a page.
func runPage(env opt.Env, page string, words []string) int {
	if run := gridEngine[page]; run != nil {
		return run(env, words)
	}
	words = append([]string{strings.TrimPrefix(page, "quill-")}, words...)
	switch holder(words) {
	case "quill-daemon":
		return serve.Run(env, words)
	case "quill-lab":
		return lab.Run(env, words)
	}
	return quill(env, words)
}
