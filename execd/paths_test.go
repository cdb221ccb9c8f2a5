package execd

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/quill-grid/quill/execd/plan"
)

// What execd looks at for a user is what that user may see.
func TestLooksWithTheRightsOfTheOwner(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("needs root: directories of several users")
	}
	base, err := os.MkdirTemp("", "execd")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(base)
	closed := filepath.Join(base, "closed")
	for path, mode := range map[string]os.FileMode{closed: 0o700, closed + "/sub": 0o755} {
		os.MkdirAll(path, 0o755)
		defer os.Chmod(path, 0o755)
		os.Chmod(path, mode)
	}
	os.Chmod(base, 0o755)
	if err := os.WriteFile(closed+"/sub/program", []byte("#!/bin/sh\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	mine := filepath.Join(base, "program")
	if err := os.WriteFile(mine, []byte("#!/bin/sh\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	other := filepath.Join(base, "not-for-others")
	if err := os.WriteFile(other, []byte("#!/bin/sh\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	var k batchRunner
	mallory, root := plan.Owner{UID: 65533, GID: 65533}, plan.Owner{}
	for _, c := range []struct {
		who  plan.Owner
		path string
		is   bool
	}{
		{root, closed + "/sub", true}, {mallory, closed + "/sub", false}, {mallory, closed, true},
		{mallory, base + "/closed/../closed/sub", false}, {mallory, mine, false},
	} {
		if is, known := k.userSeesDir(c.who, c.path); is != c.is || !known {
			t.Errorf("%s is a directory to uid %d: %t, %t", c.path, c.who.UID, is, known)
		}
	}
	env := []string{"PATH=" + closed + "/sub:" + base}
	for _, c := range []struct {
		who        plan.Owner
		name, path string
	}{{root, "program", closed + "/sub/program"}, {mallory, "program", mine}, {root, "not-for-others", other},
		{mallory, "not-for-others", closed + "/sub/not-for-others"}} {
		if path := k.findProgram(c.who, c.name, env); path != c.path {
			t.Errorf("%s of uid %d is %s, not %s", c.name, c.who.UID, path, c.path)
		}
	}
	if is, _ := k.userSeesDir(root, closed+"/sub"); !is {
		t.Error("root's rights are not back")
	}
}

// TMPDIRs are made by root, so no other user may be able to rename what is above them.
func TestTmpDirThatOthersCanChange(t *testing.T) {
	tmp := filepath.Join(t.TempDir(), "tmp")
	if err := os.Mkdir(tmp, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		mode os.FileMode
		ok   bool
	}{{0o777, false}, {0o775, false}, {0o777 | os.ModeSticky, true}, {0o755, true}} {
		if err := os.Chmod(tmp, c.mode); err != nil {
			t.Fatal(err)
		}
		dirs := tmpDirs{file: filepath.Join(t.TempDir(), "tmpdirs")}
		dir, err := dirs.dirFor(tmp)
		switch {
		case c.ok && (err != nil || !isOwned(dir)):
			t.Errorf("%v: %q, %v", c.mode, dir, err)
		case c.ok:
			if err := os.Chmod(tmp, 0o777); err != nil {
				t.Fatal(err)
			}
			if dir, err := dirs.dirFor(tmp); err == nil {
				t.Errorf("a directory of before is still used: %s", dir)
			}
		case !c.ok &&
			(err == nil || !strings.Contains(err.Error(), tmp+" can be written by others than its owner and has no sticky bit")):
			t.Errorf("%v: %q, %v", c.mode, dir, err)
		}
	}
}
