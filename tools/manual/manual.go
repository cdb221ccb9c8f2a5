package manual

import (
	"embed"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"strings"

	"github.com/cpuguy83/go-md2man/v2/md2man"
)

//go:embed *.md man/*.md schemas/*.json monitoring/*
var files embed.FS

// Chapter is a page of the manual.
type Chapter struct {
	Name    string // as `quill manual NAME` has it
	Title   string
	Summary string // what it contains, in a line
}

// row is a line of the table of contents.
var row = regexp.MustCompile(`(?m)^\| \[([^\]]+)\]\(([a-z-]+)\.md\) \| (.*) \|$`)

// Chapters returns the chapters in the order of the table of contents.
func Chapters() (out []Chapter) {
	contents, _ := files.ReadFile("README.md") // embedded: it is there
	for _, m := range row.FindAllStringSubmatch(string(contents), -1) {
		out = append(out, Chapter{Name: m[2], Title: m[1], Summary: strings.ReplaceAll(m[3], "`", "")})
	}
	return out
}

// Text returns a chapter as Markdown. It fails when there is no chapter of that
// name.
func Text(name string) (string, error) {
	for _, c := range Chapters() {
		if c.Name == name {
			text, err := files.ReadFile(name + ".md")
			return string(text), err
		}
	}
	return "", fmt.Errorf("the manual has no chapter or page %q; `quill manual` lists them", name)
}

// Folders are the files that programs read, in the order in which they are listed.
var Folders = []Folder{
	{"JSON Schemas of -fmt json and --json", "schemas/*.json"},
	{"Alerts for Prometheus, a dashboard for Grafana", "monitoring/*"},
}

// Folder has files that programs read.
type Folder struct{ Title, pattern string }

// Files returns the names of the files.
func (f Folder) Files() (out []string) {
	paths, _ := fs.Glob(files, f.pattern) // the patterns are good
	for _, p := range paths {
		out = append(out, path.Base(p))
	}
	return out
}

// File returns the file of that name in one of the folders. It fails when there is none.
func File(name string) (string, error) {
	for _, f := range Folders {
		if text, err := files.ReadFile(path.Join(path.Dir(f.pattern), name)); err == nil {
			return string(text), nil
		}
	}
	return "", fmt.Errorf("the manual has no file %q; `quill manual` lists them", name)
}

// Page is a manual page.
type Page struct {
	Name    string // of the command, daemon or file
	Section int    // 1 commands, 5 file formats, 8 daemons
	Summary string // the line of its NAME section
	Text    string // Markdown as go-md2man reads it
}

// Sections are the sections of the manual pages, in the order in which they are listed.
var Sections = []struct {
	Number int
	Title  string
}{{1, "Commands"}, {5, "File formats"}, {8, "Daemons"}}

// title is the first line of a page, subject its line under NAME.
var (
	title   = regexp.MustCompile(`^# [A-Z_0-9-]+ ([158]) "" "Quill" "[A-Za-z ]+"\n`)
	subject = regexp.MustCompile(`\n# NAME\n\n(.+) - (.+)\n`)
)

// Pages returns the manual pages in the order of their names.
func Pages() (out []Page) {
	names, _ := fs.Glob(files, "man/*.md") // the pattern is good
	for _, name := range names {
		text, _ := files.ReadFile(name) // embedded: it is there
		p := Page{Name: strings.TrimSuffix(path.Base(name), ".md"), Text: string(text)}
		if m := title.FindStringSubmatch(p.Text); m != nil {
			p.Section = int(m[1][0] - '0')
		}
		if m := subject.FindStringSubmatch(p.Text); m != nil {
			p.Summary = m[2]
		}
		out = append(out, p)
	}
	return out
}

// PageOf returns the page of that name, or of the command of quill with that name.
func PageOf(name string) (Page, bool) {
	for _, n := range []string{name, "quill-" + name} {
		for _, p := range Pages() {
			if p.Name == n {
				return p, true
			}
		}
	}
	return Page{}, false
}

// Roff returns the page as man(1) reads it.
func (p Page) Roff() []byte { return md2man.Render([]byte(p.Text)) }
