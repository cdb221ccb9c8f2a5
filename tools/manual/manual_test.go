package manual

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestContents checks that the table of contents names every chapter and nothing
// else, and that the table of the project's README is the same.
func TestContents(t *testing.T) {
	named := map[string]bool{"README.md": true}
	for _, c := range Chapters() {
		named[c.Name+".md"] = true
		text, err := Text(c.Name)
		if err != nil {
			t.Error(err)
		}
		if !strings.HasPrefix(text, "# "+c.Title+"\n") {
			t.Errorf("%s.md does not begin with its title %q", c.Name, c.Title)
		}
		if p, ok := PageOf(c.Name); ok {
			t.Errorf("quill manual %s shows the page %s, and not the chapter", c.Name, p.Name)
		}
	}
	pages, err := fs.Glob(files, "*.md")
	if err != nil || len(pages) != len(named) {
		t.Errorf("%d pages, %d named in README.md (%v)", len(pages), len(named), err)
	}
	for _, p := range pages {
		if !named[p] {
			t.Errorf("README.md does not name %s", p)
		}
	}
	project, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	contents, err := files.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	table := strings.Join(row.FindAllString(string(contents), -1), "\n")
	if table = strings.ReplaceAll(table, "](", "](tools/manual/"); !strings.Contains(string(project), table) {
		t.Errorf("the project's README lacks the table\n%s", table)
	}
	if _, err := Text("no-such"); err == nil {
		t.Error("a chapter that does not exist was found")
	}
}

// TestPages checks the frame of each manual page: title, NAME, SYNOPSIS,
// DESCRIPTION, references to pages that exist, and that man(1), where it is installed,
// renders it without warnings.
func TestPages(t *testing.T) {
	known := map[string]bool{}
	for _, p := range Pages() {
		known[fmt.Sprintf("**%s**(%d)", p.Name, p.Section)] = true
	}
	if len(known) == 0 {
		t.Fatal("there are no pages")
	}
	contents, err := files.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range Pages() {
		if link := fmt.Sprintf("[%s](man/%s.md)", p.Name, p.Name); !strings.Contains(string(contents), link) {
			t.Errorf("README.md does not link %s", link)
		}
	}
	reference := regexp.MustCompile(`\*\*[a-z_-]+\*\*\([158]\)`)
	for _, p := range Pages() {
		if p.Section == 0 || p.Summary == "" {
			t.Errorf("%s: no title, or no line under NAME", p.Name)
		}
		for _, heading := range []string{"SYNOPSIS", "DESCRIPTION", "SEE ALSO"} {
			if !strings.Contains(p.Text, "\n# "+heading+"\n") {
				t.Errorf("%s: no section %s", p.Name, heading)
			}
		}
		for _, r := range reference.FindAllString(p.Text, -1) {
			if !known[r] {
				t.Errorf("%s: there is no page %s", p.Name, r)
			}
		}
		if !strings.Contains(string(p.Roff()), ".nh\n.TH ") {
			t.Errorf("%s: not a manual page: %.40q", p.Name, p.Roff())
		}
	}
}

// TestRendered: no page has a warning, neither from groff nor from man, which runs it and needs 200 times as long for a
// page. A line that cannot be broken is no fault of it.
func TestRendered(t *testing.T) {
	if _, err := exec.LookPath("man"); err != nil {
		t.Skip("there is no man")
	}
	var files []string
	dir := t.TempDir()
	for _, p := range Pages() {
		file := filepath.Join(dir, fmt.Sprintf("%s.%d", p.Name, p.Section))
		if err := os.WriteFile(file, p.Roff(), 0o644); err != nil {
			t.Fatal(err)
		}
		files = append(files, file)
	}
	for _, render := range []*exec.Cmd{
		exec.Command("groff", append([]string{"-man", "-wmac", "-Wbreak", "-Tutf8", "-t", "-k", "-rLL=100n"}, files...)...),
		exec.Command("man", "--warnings", "-E", "UTF-8", "-l", files[0]),
	} {
		warnings := new(strings.Builder)
		render.Env, render.Stderr = append(os.Environ(), "MANWIDTH=100"), warnings
		if err := render.Run(); err != nil || warnings.Len() > 0 {
			t.Errorf("%s: %v %s", render.Args[0], err, warnings)
		}
	}
}

// link is a link to a file, perhaps to a heading in it.
var link = regexp.MustCompile(`\]\(([^):#]*)(?:#([^)]*))?\)`)

// TestLinks checks that every relative link leads to a file, and to a heading of
// it when it names one.
func TestLinks(t *testing.T) {
	pages, err := filepath.Glob("*.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, page := range append(pages, "../../README.md") {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range link.FindAllStringSubmatch(string(text), -1) {
			target := page
			if m[1] != "" {
				target = filepath.Join(filepath.Dir(page), m[1])
			}
			to, err := os.ReadFile(target)
			if info, statErr := os.Stat(target); statErr == nil && info.IsDir() {
				continue
			}
			if err != nil {
				t.Errorf("%s: %s leads nowhere", page, m[0])
				continue
			}
			if m[2] != "" && !hasHeading(string(to), m[2]) {
				t.Errorf("%s: %s has no heading %q", page, target, m[2])
			}
		}
	}
}

// hasHeading reports whether a page has a heading with that anchor.
func hasHeading(page, anchor string) bool {
	for _, line := range strings.Split(page, "\n") {
		if title, ok := strings.CutPrefix(strings.TrimLeft(line, "#"), " "); ok && strings.HasPrefix(line, "#") {
			plain := strings.Map(func(r rune) rune {
				if strings.ContainsRune("`,.():", r) {
					return -1
				}
				return r
			}, strings.ToLower(title))
			if strings.ReplaceAll(plain, " ", "-") == anchor {
				return true
			}
		}
	}
	return false
}
