package cell

import (
	"errors"
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
	installedFile = filepath.Join(t.TempDir(), "none")
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

// The cell of the machine is found without any variable, as in root's shell or cron; a user's own goes before it.
func TestFindInstalled(t *testing.T) {
	dir := t.TempDir()
	installedFile = filepath.Join(dir, "quill")
	text := "# options\nQMASTER_OPTIONS=--listen :6444\nSGE_ROOT='/var/lib/quill'\nSGE_CELL=prod\n"
	err := errors.Join(os.WriteFile(installedFile, []byte(text), 0o644), os.MkdirAll(dir+"/.quill/default", 0o755))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		env  map[string]string
		want string
	}{
		{nil, "/var/lib/quill/prod"},
		{map[string]string{"HOME": "/root"}, "/var/lib/quill/prod"},
		{map[string]string{"HOME": "/root", "SGE_CELL": "test"}, "/var/lib/quill/test"},
		{map[string]string{"HOME": dir}, dir + "/.quill/default"},
		{map[string]string{"HOME": dir, "SGE_CELL": "prod"}, "/var/lib/quill/prod"},
		{map[string]string{"HOME": dir, "SGE_ROOT": "/opt/sge"}, "/opt/sge/default"},
	} {
		if cell, err := FindIn(env(c.env)); err != nil || cell.Dir() != c.want {
			t.Errorf("%v: %s %v, want %s", c.env, cell.Dir(), err, c.want)
		}
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

// TestLoginOfAnotherUser: sudo may leave the home directory of the user who called it in $HOME. What is there is not
// the log-in of the user who runs now, and no log-in is stored there.
func TestLoginOfAnotherUser(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("needs root, who can give a directory away")
	}
	cell := Cell{Root: "/opt/sge", Name: "default"}
	home := t.TempDir()
	t.Setenv("HOME", home)
	if err := cell.SaveLogin("quill_1_secret"); err != nil {
		t.Fatal(err)
	}
	if token, err := cell.Login(); token != "quill_1_secret" || err != nil {
		t.Errorf("own: %q %v", token, err)
	}
	for _, path := range []string{home, filepath.Dir(cell.LoginFile()), cell.LoginFile()} {
		if err := os.Chown(path, 65534, 65534); err != nil {
			t.Fatal(err)
		}
	}
	if token, err := cell.Login(); token != "" || err != nil {
		t.Errorf("another user's: %q %v", token, err)
	}
	want := "the token of a log-in is stored in the home directory, and " + home + " belongs to another user: set HOME"
	if err := cell.SaveLogin("quill_2_secret"); err == nil || err.Error() != want {
		t.Errorf("stored: %v", err)
	}
	if text, err := os.ReadFile(cell.LoginFile()); err != nil || !strings.Contains(string(text), "quill_1_secret") {
		t.Errorf("the file has changed: %s %v", text, err)
	}
}
