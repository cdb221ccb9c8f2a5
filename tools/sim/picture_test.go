package sim

import (
	"bytes"
	"context"
	"flag"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/urfave/cli/v2"

	"github.com/quill-grid/quill/pkg/opt"
)

var update = flag.Bool("update", false, "write the pictures of the manual")

// TestPictures: the pictures of the manual are those that its commands draw. -update writes them.
func TestPictures(t *testing.T) {
	const manual = "../manual"
	text, err := os.ReadFile(filepath.Join(manual, "schedule.md"))
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for line := range strings.Lines(string(text)) {
		words := strings.Fields(strings.ReplaceAll(line, "tools/demo/", "../demo/"))
		if len(words) < 4 || words[0] != "quill" || words[1] != "sim" || words[len(words)-2] != "--plot" &&
			words[len(words)-2] != "--shares" {
			continue
		}
		found++
		name := words[len(words)-1]
		words[len(words)-1] = filepath.Join(t.TempDir(), name)
		app := &cli.App{Name: "quill", Writer: io.Discard,
			Commands: []*cli.Command{Command(opt.Env{Stdout: io.Discard, Stderr: os.Stderr})}}
		if err := app.RunContext(context.Background(), words); err != nil {
			t.Fatalf("%s: %v", strings.TrimSpace(line), err)
		}
		drawn, err := os.ReadFile(words[len(words)-1])
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(manual, "pictures", name)
		if *update {
			if err := os.WriteFile(path, drawn, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if stored, err := os.ReadFile(path); err != nil || !bytes.Equal(stored, drawn) {
			t.Errorf("%s is not what the manual's command draws (%v): go test ./tools/sim -update writes it", path, err)
		}
		if len(drawn) > 20_000 {
			t.Errorf("%s has %d bytes", path, len(drawn))
		}
	}
	if found != 2 {
		t.Errorf("the manual draws %d pictures, not 2", found)
	}
}
