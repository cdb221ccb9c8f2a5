package manual

import (
	"embed"
	"fmt"
	"regexp"
	"strings"
)

//go:embed *.md
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
	return "", fmt.Errorf("the manual has no chapter %q; `quill manual` lists them", name)
}
