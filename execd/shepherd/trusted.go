package shepherd

import (
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// startDir is a directory to start a process in.
type startDir struct {
	fd    int  // opened with O_PATH
	plain bool // on a file system that answers
}

// openStartDir opens a working directory, as chdir(2) would: the path must lead to a directory that may be searched.
func openStartDir(dir string) (p startDir, err error) {
	p.fd, err = openWithoutMagicLinks(dir+"/.", unix.O_PATH|syscall.O_DIRECTORY|syscall.O_CLOEXEC, 0)
	if err == nil {
		var s unix.Statfs_t
		p.plain = unix.Fstatfs(p.fd, &s) == nil && fileSystemAnswers(int64(s.Type), func() uint64 { return deviceOf(p.fd) })
	}
	return p, err
}

func (p startDir) procPath() string { return fdPath(p.fd) }

// trustedProgram is a program that was found to be trusted, at a time.
type trustedProgram struct {
	program string
	at      time.Time
}

// trustedPrograms are those that the shepherd may execute itself.
type trustedPrograms struct {
	uid  uint32 // of the shepherd
	last atomic.Pointer[trustedProgram]
}

// trustedFor is how long that holds without looking again: most jobs of a host are started by one shell.
const trustedFor = time.Second

// contains reports whether a program can be executed without touching what a user controls: only root and the
// shepherd's user can change it or the directories above it, and its file system answers.
func (p *trustedPrograms) contains(program string) bool {
	if t := p.last.Load(); t != nil && t.program == program && time.Since(t.at) < trustedFor {
		return true
	}
	trusted := p.isTrusted(program)
	if trusted {
		p.last.Store(&trustedProgram{program, time.Now()})
	}
	return trusted
}

func (p *trustedPrograms) isTrusted(program string) bool {
	mine := func(s *syscall.Stat_t) bool { return s.Uid == 0 || s.Uid == p.uid }
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
	return unix.Statfs(at, &s) == nil && fileSystemAnswers(int64(s.Type), func() uint64 {
		var f syscall.Stat_t
		syscall.Stat(at, &f)
		return f.Dev
	})
}

// fileSystemAnswers reports whether the operations of a file system end soon once one has. Those of which the kernel
// asks a server that a user may be are not among them; an overlay only when it is the root: users can make others.
func fileSystemAnswers(kind int64, device func() uint64) bool {
	switch uint32(kind) {
	case unix.EXT4_SUPER_MAGIC, unix.XFS_SUPER_MAGIC, unix.BTRFS_SUPER_MAGIC, unix.TMPFS_MAGIC, unix.RAMFS_MAGIC,
		unix.F2FS_SUPER_MAGIC,
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
