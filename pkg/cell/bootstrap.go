package cell

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"strings"

	"github.com/quill-grid/quill/pkg/archive"
)

// ReadBootstrap returns the parameters of the bootstrap file.
func (c Cell) ReadBootstrap() (map[string]string, error) {
	f, err := os.Open(c.Bootstrap())
	if err != nil {
		return nil, err
	}
	defer f.Close()
	out := map[string]string{}
	for lines := bufio.NewScanner(f); lines.Scan(); {
		name, value, _ := strings.Cut(strings.TrimSpace(lines.Text()), " ")
		if name != "" && name[0] != '#' {
			out[name] = strings.TrimSpace(value)
		}
	}
	return out, nil
}

// WriteBootstrap writes the file that ReadBootstrap reads.
func (c Cell) WriteBootstrap(params [][2]string) error {
	var b strings.Builder
	for _, p := range params {
		fmt.Fprintf(&b, "%-23s %s\n", p[0], p[1])
	}
	return WriteFile(c.Bootstrap(), []byte(b.String()), 0o644)
}

// WriteFile writes a file of the cell atomically: other programs may read it at any time.
// A file that already has the contents is not written, so that this needs no space on
// disk.
func WriteFile(path string, text []byte, mode os.FileMode) error {
	if old, err := os.ReadFile(path); err == nil && bytes.Equal(old, text) {
		return nil
	}
	return archive.Replace(path, text, mode)
}

// Link makes a symbolic link, or replaces it atomically: a program that runs it meanwhile finds the old or the new
// target.
func Link(target, path string) error {
	if now, err := os.Readlink(path); err == nil && now == target {
		return nil
	}
	fresh := fmt.Sprintf("%s.%d", path, os.Getpid())
	if err := os.Symlink(target, fresh); err != nil {
		return err
	}
	return os.Rename(fresh, path)
}
