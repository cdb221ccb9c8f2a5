package shepherd

import (
	"os"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/quill-grid/quill/execd/plan"
	"github.com/quill-grid/quill/pkg/report"
)

// Paths that a user chooses can block the process that opens them: a FIFO, a file server that does not answer, a file system that
// the user serves himself (FUSE). The shepherd looks at such paths for quickPatience at most; what is slower, or of a kind that
// may block, is left to the process that needs it: see careful.go. It must never be met between fork and exec, for
// meanwhile the child has the shepherd's memory, and the garbage collection of the shepherd waits for it.

// quickPatience is how long the shepherd lets a file system take.
const quickPatience = time.Second

// stuckMax bounds the threads of the shepherd that file systems hold.
const stuckMax = 256

// Slowness records whose file systems do not answer at present. Its zero value is ready for use.
type Slowness struct {
	mu    sync.Mutex
	stuck map[uint32]int // looks that are overdue, by uid
	all   int

	// A timer for each look would wake the processor twice: those with quickPatience share one, and have up to twice that.
	once      sync.Once
	now, next chan struct{} // closed by the next beat, and by the one after it
}

// after is closed when patience has passed.
func (s *Slowness) after(patience time.Duration) <-chan struct{} {
	if patience != quickPatience {
		late := make(chan struct{})
		time.AfterFunc(patience, func() { close(late) })
		return late
	}
	s.once.Do(func() {
		s.now, s.next = make(chan struct{}), make(chan struct{})
		go func() {
			for {
				time.Sleep(quickPatience)
				s.mu.Lock()
				close(s.now)
				s.now, s.next = s.next, make(chan struct{})
				s.mu.Unlock()
			}
		}()
	})
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.next
}

// unknownOwner is the uid for attempts whose owner is not known any more.
const unknownOwner = ^uint32(0)

func (s *Slowness) slow(owner uint32) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.stuck[owner] > 0 || s.all >= stuckMax
}

func (s *Slowness) add(owner uint32, n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.all += n
	if s.stuck == nil {
		s.stuck = map[uint32]int{}
	}
	if s.stuck[owner] += n; s.stuck[owner] == 0 {
		delete(s.stuck, owner)
	}
}

// Within runs f, and is true when it ends within patience. It is false when f takes longer, or when an earlier one of that owner
// has not ended yet: then f is not run. An f that ends late is followed by undo; neither may touch what the caller uses
// when the answer is false.
func (s *Slowness) Within(owner uint32, patience time.Duration, f, undo func()) bool {
	if s.slow(owner) {
		return false
	}
	ended := make(chan struct{})
	var mu sync.Mutex
	finished, late := false, false
	go func() {
		f()
		mu.Lock()
		finished = true
		mu.Unlock()
		close(ended)
		if late { // not written any more
			undo()
			s.add(owner, -1)
		}
	}()
	select {
	case <-ended:
		return true
	case <-s.after(patience):
	}
	mu.Lock()
	defer mu.Unlock()
	if !finished {
		late = true
		s.add(owner, 1)
	}
	return finished
}

// quickly runs look with the file access rights of o: see Slowness. It fails when these cannot be set.
func (k *shepherd) quickly(o plan.Owner, look, undo func()) (done bool, failed *failure) {
	var err error
	done = k.slow.Within(o.UID, quickPatience, func() { err = AsOwner(o, look) }, undo)
	if done && err != nil {
		return true, fail(report.FailedBeforeJob, "can't take on uid %d: %v", o.UID, err)
	}
	return done, nil
}

// place is a directory to start a process in.
type place struct {
	fd    int  // opened with O_PATH
	plain bool // on a file system that answers
}

// enter opens a working directory, as chdir(2) would: the path must lead to a directory that may be searched.
func enter(dir string) (p place, err error) {
	p.fd, err = openPlainly(dir+"/.", unix.O_PATH|syscall.O_DIRECTORY|syscall.O_CLOEXEC, 0)
	if err == nil {
		var s unix.Statfs_t
		p.plain = unix.Fstatfs(p.fd, &s) == nil && answering(int64(s.Type), func() uint64 { return deviceOf(p.fd) })
	}
	return p, err
}

func (p place) path() string { return fdPath(p.fd) }

// trust is a program that was found to be trusted, at a time.
type trust struct {
	program string
	at      time.Time
}

// trustTime is how long that holds without looking again: most jobs of a host are started by one shell.
const trustTime = time.Second

// trusted reports whether a program can be executed without touching what a user controls: only root and the shepherd's user
// can change it or the directories above it, and its file system answers.
func (k *shepherd) trusted(program string) bool {
	if t := k.trust.Load(); t != nil && t.program == program && time.Since(t.at) < trustTime {
		return true
	}
	trusted := k.findTrusted(program)
	if trusted {
		k.trust.Store(&trust{program, time.Now()})
	}
	return trusted
}

func (k *shepherd) findTrusted(program string) bool {
	mine := func(s *syscall.Stat_t) bool { return s.Uid == 0 || s.Uid == k.uid }
	rest, at := strings.Split(program, "/"), "/"
	for links := 0; len(rest) > 0; {
		name := rest[0]
		rest = rest[1:]
		if name == "" || name == "." {
			continue
		}
		if name == ".." {
			at = at[:strings.LastIndexByte(strings.TrimSuffix(at, "/"), '/')+1]
			continue
		}
		var s syscall.Stat_t
		if syscall.Lstat(at+name, &s) != nil || !mine(&s) {
			return false
		}
		switch s.Mode & syscall.S_IFMT {
		case syscall.S_IFLNK:
			to, err := os.Readlink(at + name)
			if links++; err != nil || links > 20 {
				return false
			}
			if strings.HasPrefix(to, "/") {
				at = "/"
			}
			rest = append(strings.Split(to, "/"), rest...)
			continue
		case syscall.S_IFDIR:
			if s.Mode&0o022 != 0 && s.Mode&syscall.S_ISVTX == 0 {
				return false
			}
			at += name + "/"
		default:
			if len(rest) > 0 || s.Mode&0o022 != 0 {
				return false
			}
			at += name
		}
	}
	var s unix.Statfs_t
	return unix.Statfs(at, &s) == nil && answering(int64(s.Type), func() uint64 {
		var f syscall.Stat_t
		syscall.Stat(at, &f)
		return f.Dev
	})
}

// answering says of a file system that its operations end soon once one has. Those of which the kernel asks a server that a
// user may be are not among them; an overlay only when it is the root: users can make others.
func answering(kind int64, device func() uint64) bool {
	switch uint32(kind) {
	case unix.EXT4_SUPER_MAGIC, unix.XFS_SUPER_MAGIC, unix.BTRFS_SUPER_MAGIC, unix.TMPFS_MAGIC, unix.RAMFS_MAGIC, unix.F2FS_SUPER_MAGIC,
		unix.SQUASHFS_MAGIC, unix.EROFS_SUPER_MAGIC_V1, unix.NFS_SUPER_MAGIC, unix.CEPH_SUPER_MAGIC, unix.SMB2_SUPER_MAGIC,
		zfsMagic, lustreMagic, gpfsMagic, beegfsMagic:
		return true
	}
	return device() == rootDevice()
}

// What statfs(2) says of file systems outside the kernel's source.
const (
	zfsMagic    = 0x2fc12fc1
	lustreMagic = 0x0bd00bd0
	gpfsMagic   = 0x47504653
	beegfsMagic = 0x19830326
)

var rootDevice = sync.OnceValue(func() uint64 {
	var s syscall.Stat_t
	syscall.Stat("/", &s)
	return s.Dev
})

func deviceOf(fd int) uint64 {
	var s syscall.Stat_t
	syscall.Fstat(fd, &s)
	return s.Dev
}
