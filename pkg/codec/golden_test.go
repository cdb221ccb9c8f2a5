package codec_test

import (
	"crypto/sha256"
	"encoding/hex"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/quill-grid/quill/pkg/codec"
	"github.com/quill-grid/quill/pkg/grid"
)

var update = flag.Bool("update", false, "write the golden bytes of this version")

// golden is the bytes of everything in this version, by name.
func golden() map[string]message {
	all := messages()
	for _, s := range grid.Kinds {
		o := filled(s)
		all["object-"+strings.ToLower(s.Name)] = message{o, codec.AppendObject(nil, o), func(b []byte) (any, error) {
			return codec.DecodeObject(s.Kind, b)
		}}
	}
	return all
}

// TestGolden holds this version's bytes against those on record, and reads
// those of every version.
func TestGolden(t *testing.T) {
	now := golden()
	dir := filepath.Join("testdata", fmt.Sprintf("v%d", codec.Version))
	if *update {
		if err := os.MkdirAll(dir, 0o777); err != nil {
			t.Fatal(err)
		}
		for name, m := range now {
			if err := os.WriteFile(filepath.Join(dir, name+".hex"), []byte(dump(m.bytes)), 0o666); err != nil {
				t.Fatal(err)
			}
		}
	}
	for name, m := range now {
		text, err := os.ReadFile(filepath.Join(dir, name+".hex"))
		if err != nil {
			t.Errorf("%v (a new kind? run: go test -run Golden -update)", err)
			continue
		}
		if d := cmp.Diff(string(text), dump(m.bytes)); d != "" {
			t.Errorf("%s is written differently than on record: %s", name, d)
		}
	}
	files, err := filepath.Glob("testdata/v*/*.hex")
	if err != nil || len(files) == 0 {
		t.Fatal("no golden bytes", err)
	}
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		b, err := hex.DecodeString(strings.ReplaceAll(string(text), "\n", ""))
		if err != nil {
			t.Fatal(err)
		}
		m, ok := now[strings.TrimSuffix(filepath.Base(f), ".hex")]
		if !ok {
			t.Errorf("%s: nothing of that name any more", f)
			continue
		}
		got, err := m.decode(b)
		if err != nil {
			t.Errorf("%s: %v", f, err)
		} else if d := cmp.Diff(m.value, got); d != "" && filepath.Dir(f) == dir {
			t.Errorf("%s: %s", f, d)
		}
	}
}

// TestShippedStays holds the golden bytes of versions that are out, and in
// a user's log, against their sums: what is written otherwise is a new Version.
func TestShippedStays(t *testing.T) {
	text, err := os.ReadFile("testdata/shipped")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		version, sum, _ := strings.Cut(strings.TrimSpace(line), " ")
		files, err := filepath.Glob(filepath.Join("testdata", version, "*.hex"))
		if err != nil || len(files) == 0 {
			t.Fatal(version, err)
		}
		all := sha256.New()
		for _, f := range files { // in the order of their names
			b, err := os.ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			fmt.Fprintf(all, "%s\n%s", filepath.Base(f), b)
		}
		if is := hex.EncodeToString(all.Sum(nil)); is != sum {
			t.Errorf("the golden bytes of %s have changed (%s), which is out: raise Version", version, is)
		}
	}
}

// dump is hexadecimal, 32 bytes a line.
func dump(b []byte) string {
	var s strings.Builder
	for len(b) > 0 {
		n := min(32, len(b))
		fmt.Fprintf(&s, "%x\n", b[:n])
		b = b[n:]
	}
	return s.String()
}
