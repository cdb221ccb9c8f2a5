package cell

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/quill-grid/quill/pkg/bus"
)

func env(pairs map[string]string) func(string) string {
	return func(name string) string { return pairs[name] }
}

func TestFind(t *testing.T) {
	for _, c := range []struct {
		env  map[string]string
		want string
	}{
		{map[string]string{"SGE_ROOT": "/opt/sge", "SGE_CELL": "prod", "HOME": "/home/alice"}, "/opt/sge/prod"},
		{map[string]string{"SGE_ROOT": "/opt/sge", "HOME": "/home/alice"}, "/opt/sge/default"},
		{map[string]string{"HOME": "/home/alice"}, "/home/alice/.quill/default"},
	} {
		cell, err := FindIn(env(c.env))
		if err != nil || cell.Dir() != c.want {
			t.Errorf("%v: %s %v, want %s", c.env, cell.Dir(), err, c.want)
		}
	}
	if _, err := FindIn(env(nil)); err == nil || err.Error() != "error: Please set the environment variable SGE_ROOT." {
		t.Error(err)
	}
}

func TestBootstrap(t *testing.T) {
	cell := Cell{Root: t.TempDir(), Name: "c"}
	if err := os.MkdirAll(cell.Common(), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := cell.WriteBootstrap([][2]string{{"admin_user", "somebody else"}}); err != nil {
		t.Fatal(err)
	}
	if err := cell.WriteBootstrap([][2]string{{"admin_user", "sgeadmin"}, {"server_url", "nats://h1:4222"}}); err != nil {
		t.Fatal(err)
	}
	if files, err := os.ReadDir(cell.Common()); len(files) != 1 {
		t.Error(files, err)
	}
	if err := WriteFile(cell.Common(), nil, 0o644); err == nil { // a directory stands there
		t.Error("written over a directory")
	}
	if files, err := os.ReadDir(filepath.Dir(cell.Common())); len(files) != 1 {
		t.Error(files, err)
	}
	b, err := cell.ReadBootstrap()
	if err != nil || b["admin_user"] != "sgeadmin" {
		t.Error(b, err)
	}
	o := cell.ConnOptions(bus.Identity{Role: bus.Host, Name: "node1.site"})
	if o.Socket != "" || o.URL != "nats://h1:4222" || !strings.HasSuffix(o.Seed, "/keys/host-node1.site.nk") {
		t.Errorf("%+v", o)
	}
}
