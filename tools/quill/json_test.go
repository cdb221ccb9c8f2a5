package main

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/urfave/cli/v2"

	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/opt"
	"github.com/quill-grid/quill/tools/lab"
	"github.com/quill-grid/quill/tools/serve"
)

// TestJSONPage: the manual's page on JSON names each command that has --json and no other, each schema, and no schema that does not exist.
func TestJSONPage(t *testing.T) {
	page, err := os.ReadFile("../manual/json.md")
	if err != nil {
		t.Fatal(err)
	}
	var have []string
	var visit func(c *cli.Command, name string)
	visit = func(c *cli.Command, name string) {
		if slices.ContainsFunc(c.Flags, func(f cli.Flag) bool { return slices.Contains(f.Names(), "json") }) {
			have = append(have, name)
		}
		for _, sub := range c.Subcommands {
			visit(sub, name+" "+sub.Name)
		}
	}
	for _, build := range slices.Concat(quillCommands, serve.Commands, lab.Commands) {
		c := build(opt.Env{})
		visit(c, "quill "+c.Name)
	}
	var named []string
	for _, m := range regexp.MustCompile("`(quill [a-zA-Z ]+?)(?: --[a-z-]+)*? --json`").FindAllStringSubmatch(string(page), -1) {
		named = append(named, m[1])
	}
	family := func(c string) string { return c[:strings.LastIndex(c, " ")] + " NAME" } // a page may name all of one command so
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
		isKind := slices.ContainsFunc(grid.Kinds, func(s grid.Spec) bool { return name == strings.Replace(ofKind, "KIND", strings.ToLower(s.Name), 1) })
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
