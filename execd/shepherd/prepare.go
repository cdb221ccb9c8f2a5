package shepherd

import (
	"fmt"
	"os"
	"strings"
	"syscall"
	"time"

	"github.com/quill-grid/quill/execd/plan"
	"github.com/quill-grid/quill/pkg/report"
)

// lackPause is how long an attempt that met a lack stays, so that it does not come back at once.
const lackPause = 3 * time.Second

// prepareFiles makes the attempt's directories and files and opens its streams.
func (k *shepherd) prepareFiles(p *plan.Plan, s *stdStreams) *attemptFailure {
	if err := os.Mkdir(p.Spool, 0o755); err != nil && !os.IsExist(err) {
		return failureBy(err, report.FailedBeforeJob, "can't make spool directory: %v", err)
	}
	if p.Admin != 0 && k.uid == 0 { // its steps may make files there
		if err := os.Lchown(p.Spool, int(p.Admin), -1); err != nil {
			return failureBy(err, report.FailedBeforeJob, "can't make spool directory: %v", err)
		}
	}
	for i, d := range p.Dirs {
		if err := k.makeDir(d, p.Owner); err != nil {
			p.Dirs = p.Dirs[:i] // the others are not ours to remove
			return failureBy(err, report.FailedBeforeJob, "can't make directory: %v", err)
		}
	}
	for _, f := range p.Files {
		owner := p.Owner
		if p.Admin != 0 && !f.Owned && strings.HasPrefix(f.Path, p.Spool+"/") {
			f.Owned, owner = true, plan.Owner{UID: p.Admin, GID: k.gid}
		}
		if err := k.writeFile(f, owner); err != nil {
			return failureBy(err, report.FailedBeforeJob, "can't write file: %v", err)
		}
	}
	if err := k.writeStartFiles(p); err != nil {
		return failureBy(err, report.FailedBeforeJob, "can't write file: %v", err)
	}
	failed := k.openStreams(p.Owner, p.Stdin, p.Stdout, p.Stderr, s)
	if failed == nil {
		return nil
	}
	if gone := k.reasonNotEntered(p.Cwd, &p.Owner); gone != nil { // the files are mostly there
		return gone
	}
	return failed
}

func (k *shepherd) makeDir(d plan.Dir, o plan.Owner) error {
	uid, gid := int(k.uid), int(k.gid)
	if d.Owned {
		uid, gid = int(o.UID), int(o.GID)
	}
	err := os.Mkdir(d.Path, os.FileMode(d.Mode))
	if os.IsExist(err) {
		// Left from an attempt that was cut off. A link, or what belongs to another user, is neither used nor removed. It is
		// moved away, for its removal may take long.
		var s syscall.Stat_t
		if syscall.Lstat(d.Path, &s) == nil && s.Mode&syscall.S_IFMT == syscall.S_IFDIR && s.Uid == uint32(uid) {
			aside := fmt.Sprintf("%s.%x", d.Path, time.Now().UnixNano())
			if err := os.Rename(d.Path, aside); err != nil {
				return err
			}
			k.retryLater([]string{aside + "/"})
			err = os.Mkdir(d.Path, os.FileMode(d.Mode))
		}
	}
	if err == nil && uid != int(k.uid) {
		return k.chown(d.Path, uid, gid)
	}
	return err
}

// chown makes a directory that the shepherd has just made another user's. What stands in its place meanwhile, a link or
// what belongs to another user, stays as it is.
func (k *shepherd) chown(dir string, uid, gid int) error {
	fd, err := syscall.Open(dir, syscall.O_RDONLY|syscall.O_DIRECTORY|syscall.O_NOFOLLOW|syscall.O_CLOEXEC, 0)
	if err != nil {
		return &os.PathError{Op: "open", Path: dir, Err: err}
	}
	defer syscall.Close(fd)
	var s syscall.Stat_t
	if err = syscall.Fstat(fd, &s); err == nil && s.Uid != k.uid {
		err = syscall.EPERM
	}
	if err == nil {
		err = syscall.Fchown(fd, uid, gid)
	}
	if err != nil {
		return &os.PathError{Op: "chown", Path: dir, Err: err}
	}
	return nil
}

// writeFile writes a new file.
func (k *shepherd) writeFile(f plan.File, o plan.Owner) error {
	return k.makeFile(f, func(fd int) error {
		if f.Owned && k.uid == 0 {
			return syscall.Fchown(fd, int(o.UID), int(o.GID))
		}
		return nil
	})
}

// makeFile writes a new file and passes it to then. One that is there is removed first: its owner may have it open.
func (k *shepherd) makeFile(f plan.File, then func(fd int) error) error {
	const flags = syscall.O_WRONLY | syscall.O_CREAT | syscall.O_EXCL | syscall.O_NOFOLLOW | syscall.O_CLOEXEC
	fd, err := syscall.Open(f.Path, flags, f.Mode)
	if err == syscall.EEXIST && syscall.Unlink(f.Path) == nil {
		fd, err = syscall.Open(f.Path, flags, f.Mode)
	}
	if err != nil {
		return &os.PathError{Op: "open", Path: f.Path, Err: err}
	}
	defer syscall.Close(fd)
	for data := f.Data; len(data) > 0; {
		n, err := syscall.Write(fd, data)
		if err != nil {
			return &os.PathError{Op: "write", Path: f.Path, Err: err}
		}
		data = data[n:]
	}
	return then(fd)
}

// openStreams opens streams with the owner's rights, those that cannot block.
func (k *shepherd) openStreams(o plan.Owner, stdin string, stdout, stderr plan.Output, s *stdStreams) *attemptFailure {
	null := [3]int{k.null, k.null, k.null}
	paths := [3]plan.Output{{Path: stdin}, stdout, stderr}
	merge := stderr.Path == "" || stderr == stdout
	if merge {
		paths[2] = plan.Output{}
	}
	for i, path := range paths {
		if path.Path == "/dev/null" {
			paths[i] = plan.Output{}
		}
	}
	s.fds = null
	if paths == [3]plan.Output{} {
		return nil
	}
	var got stdStreams
	var cannot *attemptFailure
	done, failed := k.lookAsOwner(o, func() { got, cannot = openQuick(null, paths) }, func() { got.close() })
	switch {
	case failed != nil:
		return failed
	case !done:
		s.late, s.merge = paths, merge
		return nil
	}
	*s = got
	if merge {
		s.fds[2], s.merge = s.fds[1], s.late[1].Path != ""
	}
	return cannot
}

// removeAll removes what an attempt left, as removeFor does.
func (k *shepherd) removeAll(p *plan.Plan, patience time.Duration) (left []string, why error) {
	return k.removeFor(p.Owner.UID, removeKnown(pathsOf(p), p.Spool, spoolNames(p)), patience)
}

// removeFor removes what an attempt of the owner left. What cannot be removed, or takes longer than patience, is in
// left with the reason that remove returns.
func (k *shepherd) removeFor(owner uint32, others []string, patience time.Duration) (left []string, why error) {
	if len(others) == 0 {
		return nil, nil
	}
	var stays []string
	var cannot error
	inTurn := func() {
		defer awaitPlace(k.removals, owner)()
		stays, cannot = removePaths(others)
	}
	if !k.slow.Within(owner, patience, inTurn, func() {}) {
		return others, fmt.Errorf("remove %s: its file system does not answer, or it takes longer than %v",
			others[0], patience)
	}
	return stays, cannot
}

// lookAsOwner runs look with the file access rights of o: see Slowness. It fails when these cannot be set.
func (k *shepherd) lookAsOwner(o plan.Owner, look, undo func()) (done bool, failed *attemptFailure) {
	var err error
	done = k.slow.Within(o.UID, quickPatience, func() { err = AsOwner(o, look) }, undo)
	if done && err != nil {
		return true, newFailure(report.FailedBeforeJob, "can't take on uid %d: %v", o.UID, err)
	}
	return done, nil
}
