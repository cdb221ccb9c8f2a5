package main

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/urfave/cli/v2"

	"github.com/quill-grid/quill/pkg/opt"
	"github.com/quill-grid/quill/tools/manual"
	"github.com/quill-grid/quill/tools/quill-daemon/serve"
	"github.com/quill-grid/quill/tools/quill-lab/lab"
)

var update = flag.Bool("update", false,
	"write the sections of the manual pages that are made from the help of quill's commands")

// written are the pages whose sections are written: they say more of the options than the help does.
var written = []string{"quill-adopt", "quill-output", "quill-web"}

// TestCommandPages checks that every command of quill has a page, with the options that its help has, and that the
// sections made from the help are what the help says; -update writes them.
func TestCommandPages(t *testing.T) {
	helps := helpOfCommands(t)
	texts := map[string]string{}
	for _, p := range manual.Pages() {
		if strings.HasPrefix(p.Name, "quill-") && p.Section != 5 {
			texts[p.Name] = p.Text
		}
	}
	for _, fault := range pageFaults(texts, helps) {
		t.Error(fault)
	}
	for name, text := range texts {
		h, ok := helps[name]
		if !ok || slices.Contains(written, name) {
			continue
		}
		checkSections(t, name, text, h.sections())
	}
	for _, p := range manual.Pages() {
		if p.Name == "quill" {
			checkSections(t, "quill", p.Text, []section{{"COMMANDS", contents(helps)}})
		}
	}
}

// TestPageFaults checks the check: a page that is missing, one of no command, an option that is missing and one too
// many.
func TestPageFaults(t *testing.T) {
	helps := map[string]help{
		"quill-a": {options: []option{{term: "--all, -a"}, {term: "--out FILE"}}},
		"quill-b": {options: []option{{term: "--all"}}},
		"quill-c": {below: []help{{name: "quill c list", options: []option{{term: "--json"}}}}},
	}
	texts := map[string]string{
		"quill-a": "\n# OPTIONS\n\n**--all**, **-a**\n:   All.\n\n**--both**\n:   See **--none**.\n\n# SEE ALSO\n\n**--else**\n:   x\n",
		"quill-c": "\n# OPTIONS\n\n**--json**\n:   JSON.\n",
		"quill-d": "\n# OPTIONS\n",
	}
	want := []string{
		"quill-a does not describe --out", "quill-a describes --both, which the command does not have",
		"quill b has no manual page quill-b", "quill-d is the page of no command",
	}
	if got := pageFaults(texts, helps); !slices.Equal(got, want) {
		t.Errorf("found %q, not %q", got, want)
	}
}

// pageFaults compares pages with the commands that there are: pages that are missing, or too many, and options.
func pageFaults(texts map[string]string, helps map[string]help) (faults []string) {
	name := regexp.MustCompile(`(?:^|[ *])(--?[a-z][a-z-]*)`)
	for _, page := range slices.Sorted(maps.Keys(helps)) {
		text, ok := texts[page]
		if !ok {
			if !helps[page].hidden {
				faults = append(faults, fmt.Sprintf("%s has no manual page %s", strings.Replace(page, "-", " ", 1), page))
			}
			continue
		}
		has, named := map[string]bool{}, map[string]bool{}
		for _, h := range helps[page].all() {
			for _, o := range h.options {
				for _, m := range name.FindAllStringSubmatch(o.term, -1) {
					has[m[1]] = true
				}
			}
		}
		for _, term := range regexp.MustCompile(`(?m)^\*\*-.+\n:   `).FindAllString(sectionOf(text, "OPTIONS"), -1) {
			for _, m := range name.FindAllStringSubmatch(term, -1) {
				named[m[1]] = true
			}
		}
		for _, o := range slices.Sorted(maps.Keys(has)) {
			if !named[o] {
				faults = append(faults, fmt.Sprintf("%s does not describe %s", page, o))
			}
		}
		for _, o := range slices.Sorted(maps.Keys(named)) {
			if !has[o] {
				faults = append(faults, fmt.Sprintf("%s describes %s, which the command does not have", page, o))
			}
		}
	}
	for _, page := range slices.Sorted(maps.Keys(texts)) {
		if _, ok := helps[page]; !ok {
			faults = append(faults, page+" is the page of no command")
		}
	}
	return faults
}

// section is a section of a page.
type section struct{ title, text string }

// sectionOf returns the text of a section, without its heading.
func sectionOf(page, title string) string {
	_, text, _ := strings.Cut(page, "\n# "+title+"\n")
	text, _, _ = strings.Cut(text, "\n# ")
	return strings.Trim(text, "\n")
}

// checkSections compares sections of a page, or with -update writes them.
func checkSections(t *testing.T, name, text string, want []section) {
	changed := text
	for _, s := range want {
		has := sectionOf(text, s.title)
		if has == s.text {
			continue
		}
		if !*update {
			t.Errorf("%s: section %s is not what the help of the command says; -update writes it", name, s.title)
			continue
		}
		before, rest, ok := strings.Cut(changed, "\n# "+s.title+"\n")
		if !ok {
			t.Fatalf("%s: no section %s", name, s.title)
		}
		if _, after, more := strings.Cut(rest, "\n# "); more {
			rest = "\n\n# " + after
		} else {
			rest = "\n"
		}
		changed = before + "\n# " + s.title + "\n\n" + s.text + rest
	}
	if changed != text {
		if err := os.WriteFile(filepath.Join("../manual/man", name+".md"), []byte(changed), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// help is what a command prints with --help.
type help struct {
	name, summary, usage, text string
	hidden                     bool
	options                    []option
	below                      []help // of its own commands
}

// option is a line of a help: "--out FILE", "write to FILE (default: standard output)".
type option struct{ term, text string }

// all returns a help and those below it.
func (h help) all() []help { return append([]help{h}, h.below...) }

// helpOfCommands returns the help of each command of quill, by the name of its page.
func helpOfCommands(t *testing.T) map[string]help {
	helps := map[string]help{}
	for _, p := range []struct {
		run      program
		commands []func(opt.Env) *cli.Command
	}{{quill, quillCommands}, {serve.Run, serve.Commands}, {lab.Run, lab.Commands}} {
		for _, build := range p.commands {
			c := build(opt.Env{})
			if c.SkipFlagParsing {
				continue // it has no help: qevent, which has its own page, and what execd starts
			}
			h := helpOf(t, p.run, c.Name)
			h.hidden = c.Hidden
			for _, below := range c.VisibleCommands() {
				h.below = append(h.below, helpOf(t, p.run, c.Name, below.Name))
			}
			helps["quill-"+c.Name] = h
		}
	}
	return helps
}

// helpOf reads the help of a command.
func helpOf(t *testing.T, run program, words ...string) (h help) {
	var out strings.Builder
	env := opt.Here(t.Context()).WithEnviron(nil)
	env.Stdout, env.Stderr = &out, &out
	if status := run(env, append(words, "--help")); status != 0 {
		t.Fatalf("%q --help ends with %d:\n%s", words, status, &out)
	}
	parts := map[string]string{}
	for _, m := range regexp.MustCompile(`(?m)^([A-Z]+):\n((?:   .*\n|\n)+)`).FindAllStringSubmatch(out.String(), -1) {
		parts[m[1]] = regexp.MustCompile(`(?m)^   `).ReplaceAllString(m[2], "")
	}
	h.name, h.summary, _ = strings.Cut(strings.TrimSpace(parts["NAME"]), " - ")
	h.usage, h.text = strings.TrimSpace(parts["USAGE"]), strings.TrimSpace(parts["DESCRIPTION"])
	for _, line := range strings.Split(parts["OPTIONS"], "\n") {
		term, text, ok := strings.Cut(line, "  ")
		if ok && !strings.HasPrefix(term, "--help") {
			h.options = append(h.options, option{term, strings.TrimSpace(text)})
		}
	}
	if h.usage == "" {
		t.Fatalf("%q --help has no usage:\n%s", words, &out)
	}
	return h
}

// contents is the section of quill(1) that lists the commands.
func contents(helps map[string]help) string {
	var out strings.Builder
	for _, page := range slices.Sorted(maps.Keys(helps)) {
		if h := helps[page]; !h.hidden {
			out.WriteString(definition(fmt.Sprintf("**%s**(%d)", page, sectionNumber(page)), sentence(h.summary)))
		}
	}
	return strings.TrimSpace(out.String())
}

// definition returns an entry of a definition list, its text wrapped at 120 columns.
func definition(term, text string) string {
	out, line := term+"\n:  ", 3
	for _, word := range strings.Fields(text) {
		if n := utf8.RuneCountInString(word) + 1; line+n > 120 {
			out, line = out+"\n    "+word, 3+n
		} else {
			out, line = out+" "+word, line+n
		}
	}
	return out + "\n\n"
}

// sectionNumber returns the section of the manual in which a page is.
func sectionNumber(page string) int {
	for _, p := range manual.Pages() {
		if p.Name == page {
			return p.Section
		}
	}
	return 0
}

// sections returns those of a page that are made from the help.
func (h help) sections() []section {
	out := []section{
		{"NAME", strings.Replace(h.name, " ", "-", 1) + " - " + h.summary},
		{"SYNOPSIS", "**" + h.name + "**" + mark(strings.TrimPrefix(h.usage, h.name))},
	}
	var commands strings.Builder
	for _, b := range h.below {
		term := fmt.Sprintf("**%s**%s", h.short(b), mark(strings.TrimPrefix(b.usage, b.name)))
		commands.WriteString(definition(term, sentence(b.summary)))
		for _, line := range strings.Split(b.text, "\n") {
			if code, ok := strings.CutPrefix(line, "   "); ok {
				line = "    " + code
			} else {
				line = values(bold(line), b.usage)
			}
			commands.WriteString(strings.TrimRight("    "+line, " ") + "\n")
		}
		if b.text != "" {
			commands.WriteString("\n")
		}
	}
	if len(h.below) > 0 {
		out = append(out,
			section{"COMMANDS", regexp.MustCompile(`\n{3,}`).ReplaceAllString(strings.TrimSpace(commands.String()), "\n\n")})
	}
	if options := h.optionText(); options != "" {
		out = append(out, section{"OPTIONS", options})
	}
	return out
}

// short returns the name of a command that is below another one, or the same.
func (h help) short(b help) string { return strings.TrimPrefix(b.name, h.name+" ") }

// optionText describes the options of a command and of those below it, each once, with the commands that have it.
func (h help) optionText() string {
	all := h.all()
	if len(h.below) > 0 && len(h.options) == 0 {
		all = h.below
	}
	var order []option // without defaults
	defaults, of := map[option][]string{}, map[option]map[string][]string{}
	for _, b := range all {
		for _, o := range b.options {
			text, standard := o.parts()
			o.text = text
			if of[o] == nil {
				of[o] = map[string][]string{}
				order = append(order, o)
			}
			if of[o][standard] == nil {
				defaults[o] = append(defaults[o], standard)
			}
			of[o][standard] = append(of[o][standard], "**"+h.short(b)+"**")
		}
	}
	var out strings.Builder
	for _, o := range order {
		text := o.describe()
		var have, each []string
		for _, d := range defaults[o] {
			have = append(have, of[o][d]...)
			each = append(each, d+" ("+strings.Join(of[o][d], ", ")+")")
		}
		switch {
		case len(each) > 1:
			text += " Default: " + strings.Join(each, ", ") + "."
		case defaults[o][0] != "":
			text += " Default: " + defaults[o][0] + "."
		}
		if len(each) == 1 && len(have) < len(all) {
			text += " Of " + strings.Join(have, ", ") + "."
		}
		out.WriteString(definition(o.name(), text))
	}
	return strings.TrimSpace(out.String())
}

// name returns the term of an option: "--lines LINES, -n LINES" is **--lines** *lines*, **-n** *lines*.
func (o option) name() string {
	term, _, _ := strings.Cut(o.term, " [ ") // of an option that may be repeated
	return regexp.MustCompile(`(^|, )(--?[a-z][a-z-]*)`).ReplaceAllString(mark(term), "$1**$2**")
}

// parts returns what an option does and its default, "" if it has none.
func (o option) parts() (text, standard string) {
	text, standard, ok := strings.Cut(strings.TrimSuffix(o.text, ")"), " (default: ")
	if !ok {
		return o.text, ""
	}
	if quoted, err := strconv.Unquote(standard); err == nil {
		standard = quoted
	}
	return text, standard
}

// describe returns what an option does as a sentence.
func (o option) describe() string {
	text := sentence(bold(values(o.text, o.term)))
	if strings.Contains(o.term, " [ ") {
		text += " May be repeated."
	}
	return text
}

// sentence makes a sentence of what a help says.
func sentence(text string) string {
	if text[0] >= 'a' && text[0] <= 'z' {
		text = strings.ToUpper(text[:1]) + text[1:]
	}
	return strings.TrimSuffix(text, ".") + "."
}

// capitals are the words of a help that a user replaces, and lists of words that stand for themselves.
var capitals = regexp.MustCompile(`[A-Z][A-Z:.,|-]*[A-Z]|[A-Z]|(?:[a-z]+\|)+[a-z]+`)

// mark sets the words of a usage as the pages have them: JOB[.TASK] is *job*[.*task*], read|submit **read**|**submit**.
func mark(usage string) string {
	return capitals.ReplaceAllStringFunc(usage, func(w string) string {
		if strings.ToUpper(w) == w {
			return "*" + strings.ReplaceAll(strings.ToLower(w), "|", "*|*") + "*"
		}
		return "**" + strings.ReplaceAll(w, "|", "**|**") + "**"
	})
}

// values sets the words of a usage in a text.
func values(text, usage string) string {
	words := capitals.FindAllString(usage, -1)
	return regexp.MustCompile(`[A-Z][A-Z:.,|-]*[A-Z]|\b[A-Z]\b`).ReplaceAllStringFunc(text, func(w string) string {
		if slices.Contains(words, w) {
			return mark(w)
		}
		return w
	})
}

// bold sets the names of options.
func bold(text string) string {
	return regexp.MustCompile(`(^|[ (])(--[a-z][a-z-]*)`).ReplaceAllString(text, "$1**$2**")
}
