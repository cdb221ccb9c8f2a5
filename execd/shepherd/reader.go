package shepherd

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/quill-grid/quill/execd/plan"
	"github.com/quill-grid/quill/pkg/codec"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/report"
	"github.com/quill-grid/quill/pkg/wire"
)

// Output files are at paths that users choose. A child, this program again, reads them as the owner of the job: it has
// no more rights than the job had, and a file system that hangs holds only the child.

// readerWord stands in place of the shepherd's directory on the command line of such a child.
const readerWord = "read:"

// How many children read at a time, and how many of them for one owner. One that a file system holds counts until it is
// gone.
const (
	readersMax   = 4
	readersOwner = 2
)

// Readers bounds the files that are being read. Its zero value is ready for use.
type Readers struct {
	Priority NiceLevel // of this process, in which the children have no part

	mu     sync.Mutex
	all    int
	owners map[string]int
}

// FilePart is what a child is to read.
type FilePart struct {
	File   plan.Output // Name is the file below Path if that is a directory
	Offset uint64      // the part begins there, unless Tail is set
	Tail   uint32      // the part is the last lines, so many at most
}

// Acquire counts a reader for an owner; false: there are too many. It is followed by Release, or by Read.
func (r *Readers) Acquire(owner string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.all >= readersMax || r.owners[owner] >= readersOwner {
		return false
	}
	if r.owners == nil {
		r.owners = map[string]int{}
	}
	r.all++
	r.owners[owner]++
	return true
}

// Release ends what Acquire has begun.
func (r *Readers) Release(owner string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.all--
	if r.owners[owner]--; r.owners[owner] == 0 {
		delete(r.owners, owner)
	}
}

// Read reads a part of a file as the user o, named owner, within report.ReadWait, and releases owner when its child is
// gone. Only root can read as another user than itself.
func (r *Readers) Read(owner string, o plan.Owner, what FilePart) report.Piece {
	ctx, cancel := context.WithTimeout(context.Background(), report.ReadWait)
	defer cancel()
	done := make(chan report.Piece, 1)
	go func() {
		defer r.Release(owner)
		done <- r.readAs(ctx, o, &what)
	}()
	select {
	case p := <-done:
		if ctx.Err() == nil {
			return p
		}
	case <-ctx.Done(): // a child in the kernel's hands does not die yet
	}
	return report.Piece{Refused: report.NoAnswer, Path: what.File.Path,
		Text: fmt.Sprintf("the file system of %s does not answer", what.File.Path)}
}

// pieceMax is more than a packed piece takes.
const pieceMax = report.ReadMax + 4*unix.PathMax

func (r *Readers) readAs(ctx context.Context, o plan.Owner, what *FilePart) report.Piece {
	failed := func(why any) report.Piece {
		return report.Piece{Refused: report.NoAnswer, Path: what.File.Path,
			Text: fmt.Sprintf("%s cannot be read: %v", what.File.Path, why)}
	}
	c := exec.CommandContext(ctx, "/proc/self/exe", "shepherd", readerWord)
	c.Args[0] = os.Args[0]
	// With the race detector a program ends a second late, unless GORACE says otherwise: a half of report.ReadWait.
	c.Env, c.Dir = []string{"GOMAXPROCS=1", "GORACE=" + os.Getenv("GORACE")}, "/"
	c.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if os.Getuid() == 0 {
		c.SysProcAttr.Credential = &syscall.Credential{Uid: o.UID, Gid: o.GID, Groups: o.Groups}
	}
	c.Stdin = bytes.NewReader(pack(nil, what, readingFields))
	out, err := c.StdoutPipe()
	if err == nil {
		err = r.Priority.Start(c)
	}
	if err != nil {
		return failed(err)
	}
	// The owner of the child can write here: no more is read than an answer has.
	b, _ := io.ReadAll(io.LimitReader(out, pieceMax))
	out.Close()
	err = c.Wait()
	p, damaged := codec.DecodePiece(b)
	switch {
	case err != nil:
		return failed(err)
	case damaged != nil || len(p.Data) > report.ReadMax || p.Refused > report.NotAllowed:
		return failed("its reader has failed")
	}
	p.Text = grid.Printable(p.Text)
	return p
}

func readingFields(w *wire.Coder, r *FilePart) {
	m := w.Open()
	outputFields(w, &r.File)
	wire.Uns(w, &r.Offset)
	wire.Uns(w, &r.Tail)
	w.Close(m)
}

// runReader is the child.
func runReader() error {
	b, err := io.ReadAll(os.Stdin)
	if err != nil {
		return err
	}
	var r FilePart
	if err := unpack(b, &r, readingFields); err != nil {
		return errors.New("shepherd: not started by an execution daemon")
	}
	unix.Setpriority(unix.PRIO_PROCESS, 0, 19)
	p := r.readFile()
	_, err = os.Stdout.Write(codec.AppendPiece(nil, p))
	return err
}

// readFile reads the file. Nothing but a regular file of this user is opened: opening a device can have effects, and a
// FIFO or a link may be there so that something else is read.
func (r *FilePart) readFile() report.Piece {
	path := r.File.Path
	var s unix.Stat_t
	err := unix.Lstat(path, &s)
	if err == nil && s.Mode&unix.S_IFMT == unix.S_IFDIR && r.File.Name != "" {
		path += "/" + r.File.Name
		err = unix.Lstat(path, &s)
	}
	if err != nil {
		return cannotRead(path, err)
	}
	if why := reasonNotReadable(&s); why != "" {
		return report.Piece{Refused: report.NotAllowed, Path: path, Text: path + " " + why}
	}
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_NOCTTY|unix.O_CLOEXEC, 0)
	if err != nil {
		return cannotRead(path, err)
	}
	f := os.NewFile(uintptr(fd), path)
	defer f.Close()
	if err = unix.Fstat(fd, &s); err != nil {
		return cannotRead(path, err)
	}
	if why := reasonNotReadable(&s); why != "" { // it was replaced meanwhile
		return report.Piece{Refused: report.NotAllowed, Path: path, Text: path + " " + why}
	}
	p := report.Piece{Path: path, Size: uint64(s.Size), Offset: r.Offset}
	switch {
	case r.Tail > 0:
		p.Offset = p.Size - min(p.Size, report.ReadMax)
	case p.Offset > p.Size:
		p.Offset, p.Truncated = 0, true
	}
	b := make([]byte, min(p.Size-p.Offset, report.ReadMax))
	n, err := f.ReadAt(b, int64(p.Offset))
	if err != nil && err != io.EOF {
		return cannotRead(path, errors.Unwrap(err))
	}
	p.Data = b[:n]
	if r.Tail > 0 {
		skip := len(p.Data) - len(lastLines(p.Data, r.Tail, p.Offset > 0))
		p.Offset, p.Data = p.Offset+uint64(skip), p.Data[skip:]
	}
	return p
}

// lastLines returns the last lines of b. If b is cut off before its begin, the rest of the line there is left out.
func lastLines(b []byte, lines uint32, cut bool) []byte {
	at := len(b)
	if at > 0 && b[at-1] == '\n' {
		at--
	}
	first := -1 // the first line end that was passed
	for ; lines > 0; lines-- {
		i := bytes.LastIndexByte(b[:at], '\n')
		if i < 0 {
			if cut && first >= 0 {
				return b[first+1:]
			}
			return b
		}
		at, first = i, i
	}
	return b[at+1:]
}

func cannotRead(path string, err error) report.Piece {
	kind := report.NotAllowed
	if errors.Is(err, unix.ENOENT) || errors.Is(err, unix.ENOTDIR) {
		kind = report.NoFile
	}
	return report.Piece{Refused: kind, Path: path, Text: fmt.Sprintf("can't open %q: %s", path, errnoText(err))}
}

// reasonNotReadable returns why a file is none that a job of this user has written; "" if it can be.
func reasonNotReadable(s *unix.Stat_t) string {
	kind := map[uint32]string{
		unix.S_IFLNK: "a symbolic link", unix.S_IFIFO: "a FIFO", unix.S_IFCHR: "a device", unix.S_IFBLK: "a device",
		unix.S_IFSOCK: "a socket", unix.S_IFDIR: "a directory",
	}[s.Mode&unix.S_IFMT]
	switch {
	case kind != "":
		return "is " + kind + ": only regular files are read"
	case s.Uid != uint32(os.Getuid()):
		return fmt.Sprintf("belongs to uid %d, and not to the owner of the job", s.Uid)
	}
	return ""
}
