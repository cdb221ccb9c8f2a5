package execd

import (
	"errors"
	"os"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/quill-grid/quill/execd/plan"
	"github.com/quill-grid/quill/execd/shepherd"
)

// lookPatience is how long execd waits for the file systems that a job names. A program of one that does not answer is
// taken for one of the first folder of the PATH.
const lookPatience = time.Second

// userSeesDir reports whether a path that a user named is a directory that the user can see, unless its file system
// does not answer in time.
func (k *batchRunner) userSeesDir(user plan.Owner, path string) (is, known bool) {
	found := new(bool) // a look that does not return in time still writes it
	if !k.lookAs(user, func() { *found = isDir(path) }) {
		return false, false
	}
	return *found, true
}

// lookAs runs look with the file access rights of a user, so that it finds what the user would. False: it takes too
// long.
func (k *batchRunner) lookAs(user plan.Owner, look func()) bool {
	return k.slow.Within(user.UID, lookPatience, func() { shepherd.AsOwner(user, look) }, func() {})
}

// findProgram returns the path of a program on the PATH, as execvp(3) does for
// `qsub -b y -shell n sleep`. A program that does not exist gets the first directory
// of the PATH that could contain it, so that the shepherd reports it.
func (k *batchRunner) findProgram(user plan.Owner, name string, env []string) string {
	files := []string{}
	for _, v := range env {
		path, ok := strings.CutPrefix(v, "PATH=")
		if !ok {
			continue
		}
		for _, dir := range strings.Split(path, ":") {
			if strings.HasPrefix(dir, "/") {
				files = append(files, dir+"/"+name)
			}
		}
	}
	if len(files) == 0 {
		return "/" + name
	}
	found := -1
	look := func() {
		found = slices.IndexFunc(files, func(file string) bool {
			return unix.Faccessat(unix.AT_FDCWD, file, unix.X_OK, unix.AT_EACCESS) == nil && !isDir(file)
		})
	}
	if !k.lookAs(user, look) {
		return files[0]
	}
	return files[max(found, 0)]
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// checkExecutable returns why a program that the configuration names cannot be run here.
func checkExecutable(path string) error {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return err.(*os.PathError).Err
	case info.IsDir() || info.Mode()&0o111 == 0:
		return errors.New("it is not executable")
	}
	return nil
}
