package userdb

import (
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// programsOf has the test look with the programs of a directory.
func programsOf(t *testing.T, dir string) {
	before := programs
	programs = []string{filepath.Join(dir, "none"), dir}
	t.Cleanup(func() { programs = before })
}

// directory is a directory service: programs that know an account lena, number 70001, and a group render. It is down
// for the key "down".
func directory(t *testing.T) (dir string) {
	dir = t.TempDir()
	for name, script := range map[string]string{
		"getent": `case "$1 $3" in
"passwd lena"|"passwd 70001") echo "lena:x:70001:70002:Lena L.,room 4:/net/lena:/bin/zsh";;
"group 70002") echo "render:*:70002:lena,max";;
*down) exit 1;;
*) exit 2;;
esac`,
		"id": `[ "$3" = lena ] && echo "70002 70003 100" || exit 1`,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"+script+"\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// TestDirectory: accounts and groups of a directory service are found by name and number, a failure of the service is
// not an unknown name, and a name of digits is no number.
func TestDirectory(t *testing.T) {
	programsOf(t, directory(t))
	lena := &user.User{Username: "lena", Uid: "70001", Gid: "70002", Name: "Lena L.", HomeDir: "/net/lena"}
	if u, err := Lookup("lena"); err != nil || !reflect.DeepEqual(u, lena) {
		t.Errorf("lena: %+v, %v", u, err)
	}
	if u, err := LookupID(70001); err != nil || !reflect.DeepEqual(u, lena) {
		t.Errorf("70001: %+v, %v", u, err)
	}
	if u, err := Lookup("root"); err != nil || u.Uid != "0" {
		t.Errorf("root: %+v, %v", u, err)
	}
	for _, name := range []string{"nobody-here", "70001"} {
		if u, err := Lookup(name); !NoEntry(err) {
			t.Errorf("%s: %+v, %v", name, u, err)
		}
	}
	if u, err := Lookup("down"); err == nil || NoEntry(err) || !strings.Contains(err.Error(), "getent passwd down") {
		t.Errorf("a service that is down: %+v, %v", u, err)
	}
	if name, err := GroupName("70002"); err != nil || name != "render" {
		t.Errorf("group 70002: %q, %v", name, err)
	}
	if name, err := GroupName("70009"); err == nil {
		t.Errorf("group 70009: %q", name)
	}
	for name, want := range map[string]string{"lena": "/bin/zsh", "root": rootShell(t)} {
		if shell, err := Shell(name); err != nil || shell != want {
			t.Errorf("shell of %s: %q, %v", name, shell, err)
		}
	}
	if shell, err := Shell("70001"); !NoEntry(err) {
		t.Errorf("shell of 70001: %q, %v", shell, err)
	}
	if ids, err := Groups(lena); err != nil || strings.Join(ids, " ") != "70002 70003 100" {
		t.Errorf("groups of lena: %v, %v", ids, err)
	}
	if ids, err := Groups(&user.User{Username: "max"}); err == nil {
		t.Errorf("groups of max: %v", ids)
	}
}

// rootShell is the shell of root in /etc/passwd, whose first line it is.
func rootShell(t *testing.T) string {
	text, err := os.ReadFile("/etc/passwd")
	if err != nil {
		t.Fatal(err)
	}
	line, _, _ := strings.Cut(string(text), "\n")
	return line[strings.LastIndexByte(line, ':')+1:]
}

// TestWithoutPrograms: on a host without getent and id the files are all there is.
func TestWithoutPrograms(t *testing.T) {
	t.Setenv("PATH", directory(t)) // of who has started the program
	programsOf(t, t.TempDir())
	if u, err := Lookup("lena"); !NoEntry(err) {
		t.Errorf("lena: %+v, %v", u, err)
	}
	root, err := Lookup("root")
	if err != nil {
		t.Fatal(err)
	}
	if ids, err := Groups(root); err != nil || len(ids) == 0 {
		t.Errorf("groups of root: %v, %v", ids, err)
	}
}

// TestSameAsGetent: getent and id say of who runs this test what the files say.
func TestSameAsGetent(t *testing.T) {
	program, err := exec.LookPath("getent")
	if err != nil {
		t.Skip("getent is not on the PATH")
	}
	programsOf(t, filepath.Dir(program))
	me, err := Current()
	if err != nil {
		t.Fatal(err)
	}
	if asked, err := passwd(me.Uid, 2, nil); err != nil || !reflect.DeepEqual(asked, me) {
		t.Errorf("%+v, %v instead of %+v", asked, err, me)
	}
	all, err := Groups(me)
	if err != nil {
		t.Fatal(err)
	}
	files, err := me.GroupIds()
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range files {
		if !slices.Contains(all, id) {
			t.Errorf("group %s of %s is not one of %v", id, me.Username, all)
		}
	}
}
