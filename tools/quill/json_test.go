package main

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/quill-grid/quill/pkg/client"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/opt"
	"github.com/quill-grid/quill/pkg/opt/opttest"
	"github.com/quill-grid/quill/tools/quill-daemon/serve"
	"github.com/quill-grid/quill/tools/quill-lab/lab"
)

// TestJSONPage: the manual's page on JSON names each command that has --json and no other, each schema, and no schema
// that does not exist.
func TestJSONPage(t *testing.T) {
	page, err := os.ReadFile("../manual/json.md")
	if err != nil {
		t.Fatal(err)
	}
	var have []string
	eachCommand(func(name string, c *cli.Command) {
		if hasJSON(c) {
			have = append(have, name)
		}
	})
	var named []string
	for _, m := range regexp.MustCompile("`(quill [a-zA-Z]+(?:[ -][a-zA-Z]+)*?)(?: --[a-z-]+)*? --json`").
		FindAllStringSubmatch(string(page), -1) {
		named = append(named, m[1])
	}
	// a page may name all of one command so
	family := func(c string) string { return c[:strings.LastIndex(c, " ")] + " NAME" }
	for _, c := range have {
		if !slices.Contains(named, c) && !slices.Contains(named, family(c)) {
			t.Errorf("json.md does not name %s --json", c)
		}
	}
	for _, c := range named {
		if !slices.ContainsFunc(have, func(h string) bool { return h == c || family(h) == c }) {
			t.Errorf("json.md names %s --json, which does not exist", c)
		}
	}
	files, err := filepath.Glob("../manual/schemas/*.schema.json")
	if err != nil || len(files) == 0 {
		t.Fatal("no schemas", err)
	}
	const ofKind = "qconf-KIND.schema.json"
	exists := map[string]bool{ofKind: true}
	for _, f := range files {
		name := filepath.Base(f)
		exists[name] = true
		isKind := slices.ContainsFunc(grid.Kinds, func(s grid.Spec) bool {
			return name == strings.Replace(ofKind, "KIND", strings.ToLower(s.Name), 1)
		})
		if !strings.Contains(string(page), "`"+name+"`") && !(isKind && strings.Contains(string(page), ofKind)) {
			t.Errorf("json.md does not name %s", name)
		}
	}
	for _, name := range regexp.MustCompile(`[A-Za-z_-]+\.schema\.json`).FindAllString(string(page), -1) {
		if !exists[name] {
			t.Errorf("json.md names %s, which does not exist", name)
		}
	}
}

// eachCommand visits the commands of quill, of all programs, with those below them.
func eachCommand(visit func(name string, c *cli.Command)) {
	var descend func(name string, c *cli.Command)
	descend = func(name string, c *cli.Command) {
		visit(name, c)
		for _, sub := range c.Subcommands {
			descend(name+" "+sub.Name, sub)
		}
	}
	for _, build := range slices.Concat(quillCommands, serve.Commands, lab.Commands) {
		c := build(opt.Env{})
		descend("quill "+c.Name, c)
	}
}

func hasJSON(c *cli.Command) bool {
	return slices.ContainsFunc(c.Flags, func(f cli.Flag) bool { return slices.Contains(f.Names(), "json") })
}

// withoutJSON are the commands that have no --json, and why.
var withoutJSON = map[string]string{
	"quill up":         "a daemon: its log is JSON with --log-json",
	"quill qmaster":    "a daemon",
	"quill schedd":     "a daemon",
	"quill execd":      "a daemon",
	"quill web":        "a daemon",
	"quill demo":       "draws on the terminal",
	"quill mcp":        "its protocol is JSON",
	"quill metrics":    "OpenMetrics, for Prometheus to import",
	"quill completion": "a script for a shell",
}

// TestJSONEverywhere: every command that users start has --json, unless there is a reason.
func TestJSONEverywhere(t *testing.T) {
	seen := map[string]bool{}
	eachCommand(func(name string, c *cli.Command) {
		seen[name] = true
		menu := c.Action == nil // prints which commands are below it
		if why := withoutJSON[name]; hasJSON(c) == (why != "") && !menu && !c.Hidden {
			t.Errorf("%s: --json %v, reason to have none: %q", name, hasJSON(c), why)
		}
	})
	for name := range withoutJSON {
		if !seen[name] {
			t.Errorf("there is no %s", name)
		}
	}
}

// TestJSONErrors: a command of Grid Engine that fails prints one document with errors, and nothing else.
func TestJSONErrors(t *testing.T) {
	lines := map[string][]string{ // what cannot be read, and what finds no qmaster
		"qacct":  {"-nope", "-d", "-d x", "-t 1", "-l arch=x", "-f /nosuch", "-j -f /nosuch"},
		"qalter": {"-nope", "-p", "-p x 1", "-p 1 7"},
		"qconf": {"-nope", "", "-aattr queue", "-aq", "-sq all.q -sel", "-sq nope", "-sel",
			"-mattr queue slots 2 all.q", "-ks", "-sss"},
		"qdel":    {"-nope", "", "-u", "0", "7 -t x", "7"},
		"qhold":   {"-nope", "", "-h zz 7", "7 -u x", "7"},
		"qhost":   {"-nope", "-h", "-l =", "-xml", ""},
		"qmod":    {"-nope", "", "-d", "-sj 0", "-d all.q"},
		"qquota":  {"-nope", "-u", "-xml", ""},
		"qrdel":   {"-nope", "", "-u", "7"},
		"qresub":  {"-nope", "", "-h zz 7", "name", "7.1", "7"},
		"qrls":    {"-nope", "", "-h", "7"},
		"qrstat":  {"-nope", "-ar", "-ar x", "word", "-ar 7", ""},
		"qrsub":   {"-nope", "-d", "-d x", "-d 60 -u nobodyhere", "-d 60"},
		"qselect": {"-nope", "-q", "-qs x", ""},
		"qstat":   {"-nope", "-q", "-s y", "-g y", "-xml", "-j 7", "-g c", ""},
		"qsub":    {"-nope", "-N", "-p x -b y true", "-b y", "/nosuch", "-b y true", "-w v -b y true"},
	}
	gone := func(context.Context) (client.Client, error) {
		return nil, &client.Unreachable{Host: "m", Err: errors.New("gone")}
	}
	for name, run := range gridEngine {
		var help bytes.Buffer
		run(opt.Env{Stdout: &help, Stderr: &help, Now: time.Now, Dir: "/", Getenv: func(string) string { return "" }},
			[]string{"-help"})
		if strings.Contains(help.String(), "[-fmt ") != (lines[name] != nil) {
			t.Errorf("%s has -fmt or not, other than the lines here", name)
		}
		for _, line := range lines[name] {
			var out, errs bytes.Buffer
			env := opt.Env{Stdin: strings.NewReader(""), Stdout: &out, Stderr: &errs, Dir: t.TempDir(), Host: "h",
				Now: time.Now, Connect: gone}
			env = env.WithEnviron([]string{"USER=u", "LOGNAME=u", "HOME=" + env.Dir, "SGE_ROOT=" + env.Dir})
			status := run(env, append([]string{"-fmt", "json"}, strings.Fields(line)...))
			if err := opttest.CheckDocument(out.String()); status == 0 || err != nil || errs.Len() > 0 ||
				!strings.Contains(out.String(), `"code":"`) {
				t.Errorf("%s -fmt json %s: status %d, %v\n%s%s", name, line, status, err, &out, &errs)
			}
		}
	}
}
