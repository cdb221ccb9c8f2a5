package outcome

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/quill-grid/quill/pkg/chart"
)

// Files are those that show a comparison, by the option that names them; "" is not written.
type Files struct {
	Plot, Shares, Gantt string // .svg
	Report              string // .html
}

// named are the options and their files.
func (f Files) named() [4]struct{ option, path string } {
	return [...]struct{ option, path string }{{"plot", f.Plot}, {"shares", f.Shares}, {"gantt", f.Gantt},
		{"report", f.Report}}
}

// Check refuses files that could not be written, before a long run: those of an unknown format, and those that cannot
// be created.
func (f Files) Check() error {
	for _, n := range f.named() {
		if n.path == "" {
			continue
		}
		err := formatOf(n.option, n.path)
		if err == nil {
			err = writable(n.path)
		}
		if err != nil {
			return fmt.Errorf("--%s %w", n.option, err)
		}
	}
	return nil
}

func formatOf(option, path string) error {
	switch extension := strings.ToLower(filepath.Ext(path)); {
	case option == "report" && extension != ".html":
		return fmt.Errorf("%s: a report's name ends in .html", path)
	case option != "report" && extension == ".png":
		return fmt.Errorf(
			"%s: pictures are written as SVG, with a name that ends in .svg; any browser shows it and saves it as PNG", path)
	case option != "report" && extension != ".svg":
		return fmt.Errorf("%s: a picture's name ends in .svg", path)
	}
	return nil
}

// writable opens a file as if it were to be written, without a change to one that exists.
func writable(path string) error {
	_, err := os.Stat(path)
	isNew := errors.Is(err, os.ErrNotExist)
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE, 0o666)
	if err != nil {
		return reasonOf(path, err)
	}
	err = file.Close()
	if isNew {
		err = errors.Join(err, os.Remove(path))
	}
	return err
}

// reasonOf is an error without the name of the operation.
func reasonOf(path string, err error) error {
	if e := (*os.PathError)(nil); errors.As(err, &e) {
		return fmt.Errorf("%s: %w", path, e.Err)
	}
	return err
}

// Write writes the files. Command is what a reader of the report enters to repeat it.
func (f Files) Write(c *Comparison, command string) error {
	picture := func(draw func() (*chart.Chart, error)) func() ([]byte, error) {
		return func() ([]byte, error) {
			drawn, err := draw()
			if err != nil {
				return nil, err
			}
			return drawn.File(), nil
		}
	}
	contents := [...]func() ([]byte, error){
		picture(func() (*chart.Chart, error) { return c.Curves(), nil }), picture(c.Shares), picture(c.Gantt),
		func() ([]byte, error) {
			var b bytes.Buffer
			err := c.Report(&b, command)
			return b.Bytes(), err
		},
	}
	for i, n := range f.named() {
		if n.path == "" {
			continue
		}
		content, err := contents[i]()
		if err == nil {
			err = reasonOf(n.path, os.WriteFile(n.path, content, 0o666))
		}
		if err != nil {
			return fmt.Errorf("--%s: %w", n.option, err)
		}
	}
	return nil
}
