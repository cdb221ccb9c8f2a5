package shepherd

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/quill-grid/quill/execd/plan"
)

// pathsOf returns the paths an attempt leaves, in the order in which they are removed. Those of directories end in a
// slash.
func pathsOf(p *plan.Plan) []string {
	paths := make([]string, 0, len(p.Dirs)+1)
	for _, f := range p.Files {
		if !strings.HasPrefix(f.Path, p.Spool+"/") {
			paths = append(paths, f.Path)
		}
	}
	for i := len(p.Dirs) - 1; i >= 0; i-- {
		paths = append(paths, p.Dirs[i].Path+"/")
	}
	if p.Keep {
		return paths
	}
	return append(paths, p.Spool+"/")
}

// removeKnown removes those leavings that take a few calls: files, empty directories, and the
// spool directory with its files. It returns the others.
func removeKnown(paths []string, spool string, spoolNames []string) (others []string) {
	for _, path := range paths {
		dir, isDir := strings.CutSuffix(path, "/")
		if !isDir {
			syscall.Unlink(path)
			continue
		}
		if dir == spool {
			for _, name := range spoolNames {
				syscall.Unlink(path + name)
			}
		}
		if syscall.Rmdir(dir) != nil {
			others = append(others, path)
		}
	}
	return others
}

// removePaths removes leavings, directories with all they contain. It returns the directories that stay, and why the
// first of them does. One that is not there, nor the directory around it, is gone, or may come back when a file system
// is mounted: it is tried again, and no reason is given.
func removePaths(paths []string) (left []string, why error) {
	for _, path := range paths {
		dir, isDir := strings.CutSuffix(path, "/")
		if !isDir {
			syscall.Unlink(path)
			continue
		}
		err, away := error(nil), false
		switch no := syscall.Rmdir(dir); no {
		case nil, syscall.ENOTDIR: // not ours
		case syscall.ENOTEMPTY:
			err = removeTree(dir)
		case syscall.ENOENT:
			away = !exists(filepath.Dir(dir))
		default:
			err = &os.PathError{Op: "remove", Path: dir, Err: no}
		}
		if err != nil || away {
			left, why = append(left, path), cmp.Or(why, err)
		}
	}
	return left, why
}

// What is left is tried again after leftFirst samples, a second each, then after twice as many, at most after leftLast.
const (
	leftFirst = 2
	leftLast  = 60
)

// removalRetry counts the samples until what is left is tried again.
type removalRetry struct{ rest, pause int }

// scheduleSoon has the next one come soon: something new is left.
func (r *removalRetry) scheduleSoon() { r.rest, r.pause = leftFirst, leftFirst }

// countSample counts a sample, and reports whether it is time.
func (r *removalRetry) countSample() bool {
	if r.rest--; r.rest > 0 {
		return false
	}
	r.pause = min(2*max(r.pause, leftFirst), leftLast)
	r.rest = r.pause
	return true
}

// leftMax bounds the paths that are tried again: jobs that leave what cannot be removed must not cost more and more.
const leftMax = 1000

func newestPaths(paths []string) []string { return paths[max(0, len(paths)-leftMax):] }

// withoutPaths leaves out the paths of an attempt that begins: they are its own now.
func withoutPaths(paths, taken []string) []string {
	if len(paths) == 0 {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(paths), func(path string) bool { return slices.Contains(taken, path) })
}
