package shepherd

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/quill-grid/quill/execd/plan"
	"github.com/quill-grid/quill/pkg/report"
	"github.com/quill-grid/quill/pkg/testkit"
)

// readFor is Read of a test, for an owner who has not reached the limit.
func readFor(t *testing.T, r *Readers, o plan.Owner, what FilePart) report.Piece {
	t.Helper()
	owner := fmt.Sprint(o.UID)
	if !r.Acquire(owner) {
		t.Fatal("too many readers")
	}
	return r.Read(owner, o, what)
}

func TestReader(t *testing.T) {
	h := hostOfUsers(t)
	home := h.home(honest)
	long := strings.Repeat("0123456789abcde\n", report.ReadMax/16) // as long as an answer
	write := func(name, text string, o plan.Owner) string {
		path := filepath.Join(home, name)
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if err := os.Chown(path, int(o.UID), int(o.GID)); err != nil {
			t.Fatal(err)
		}
		return path
	}
	three := write("three", "one\ntwo\nthree\n", honest)
	big := write("big", "first\n"+long+"last", honest)
	odd := write("odd", strings.Repeat("x", report.ReadMax+5)+"\x00\xff", honest)
	link, private := filepath.Join(home, "link"), filepath.Join(h.dir, "private")
	for _, err := range []error{os.Symlink(three, link), os.Mkdir(private, 0o700),
		os.WriteFile(filepath.Join(private, "f"), []byte("secret"), 0o644)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		name   string
		file   plan.Output
		offset uint64
		tail   uint32
		want   string // offset size truncated data, or the refusal and a part of its text
	}{
		{"all", plan.Output{Path: three}, 0, 0, `0 14 false "one\ntwo\nthree\n"`},
		{"from an offset", plan.Output{Path: three}, 4, 0, `4 14 false "two\nthree\n"`},
		{"from the end", plan.Output{Path: three}, 14, 0, `14 14 false ""`},
		{"truncated", plan.Output{Path: three}, 15, 0, `0 14 true "one\ntwo\nthree\n"`},
		{"last line", plan.Output{Path: three}, 0, 1, `8 14 false "three\n"`},
		{"last lines", plan.Output{Path: three}, 0, 2, `4 14 false "two\nthree\n"`},
		{"more lines than there are", plan.Output{Path: three}, 0, 9, `0 14 false "one\ntwo\nthree\n"`},
		{"unfinished line", plan.Output{Path: big}, 0, 1, `65542 65546 false "last"`},
		{"directory", plan.Output{Path: home, Name: "three"}, 13, 0, `13 14 false "\n"`},
		{"missing", plan.Output{Path: home + "/no"}, 0, 0, `refused 1 can't open "` + home +
			`/no": No such file or directory`},
		{"missing in directory", plan.Output{Path: home, Name: "no"}, 0, 0, `refused 1 can't open "` + home +
			`/no": No such file or directory`},
		{"symbolic link", plan.Output{Path: link}, 0, 0, `refused 2 ` + link +
			` is a symbolic link: only regular files are read`},
		{"FIFO", plan.Output{Path: h.fifo(honest, "fifo")}, 0, 0, `refused 2 ` + home +
			`/fifo is a FIFO: only regular files are read`},
		{"device", plan.Output{Path: "/dev/zero"}, 0, 0, `refused 2 /dev/zero is a device: only regular files are read`},
		{"directory without name", plan.Output{Path: home}, 0, 0, `refused 2 ` + home +
			` is a directory: only regular files are read`},
		{"another user's", plan.Output{Path: write("others", "x", mallory)}, 0, 0, `refused 2 ` + home +
			`/others belongs to uid 65533, and not to the owner of the job`},
		{"root's", plan.Output{Path: "/etc/passwd"}, 0, 0,
			`refused 2 /etc/passwd belongs to uid 0, and not to the owner of the job`},
		{"out of reach", plan.Output{Path: filepath.Join(private, "f")}, 0, 0, `refused 2 can't open "` + private +
			`/f": Permission denied`},
	} {
		p := readFor(t, new(Readers), honest, FilePart{c.file, c.offset, c.tail})
		got := fmt.Sprintf("%d %d %t %q", p.Offset, p.Size, p.Truncated, p.Data)
		if p.Refused != report.Readable {
			got = fmt.Sprintf("refused %d %s", p.Refused, p.Text)
		}
		want(t, c.name, got, c.want)
	}
	// An answer is no longer than ReadMax, and begins with a line if there is one.
	p := readFor(t, new(Readers), honest, FilePart{File: plan.Output{Path: big}})
	want(t, "begin of a long file", fmt.Sprint(p.Offset, len(p.Data), p.Size), fmt.Sprint(0, report.ReadMax, len(long)+10))
	p = readFor(t, new(Readers), honest, FilePart{File: plan.Output{Path: big}, Tail: 1 << 30})
	want(t, "end of a long file", fmt.Sprint(p.Offset, len(p.Data), string(p.Data[:4])),
		fmt.Sprint(22, len(long)+4-16, "0123"))
	p = readFor(t, new(Readers), honest, FilePart{File: plan.Output{Path: odd}, Tail: 5})
	want(t, "bytes without lines", fmt.Sprint(p.Offset, len(p.Data), p.Data[report.ReadMax-2:]),
		fmt.Sprint(7, report.ReadMax, []byte{0, 255}))
}

// A file system that hangs holds up only its user, for a while, and two of the readers.
func TestReaderOfHangingFileSystem(t *testing.T) {
	h := hostOfUsers(t)
	dir := filepath.Join(h.dir, "hangs")
	hang(t, dir)
	file := filepath.Join(h.home(honest), "file")
	if err := os.WriteFile(file, []byte("text"), 0o644); err != nil {
		t.Fatal(err)
	}
	os.Chown(file, int(honest.UID), int(honest.GID))
	r, late := new(Readers), make(chan report.Piece)
	for range readersOwner {
		go func() { late <- readFor(t, r, mallory, FilePart{File: plan.Output{Path: dir + "/out"}}) }()
	}
	testkit.Until(t, "readers", testkit.Patience, func() (bool, string) {
		r.mu.Lock()
		defer r.mu.Unlock()
		return r.all == readersOwner, fmt.Sprint(r.all)
	})
	want(t, "third reader of an owner", r.Acquire(fmt.Sprint(mallory.UID)), false)
	p := readFor(t, r, honest, FilePart{File: plan.Output{Path: file}})
	want(t, "another user's file", string(p.Data), "text")
	for range readersOwner {
		p := <-late
		want(t, "refusal", fmt.Sprint(p.Refused, " ", p.Text),
			fmt.Sprintf("3 the file system of %s/out does not answer", dir))
	}
	syscall.Unmount(dir, syscall.MNT_DETACH)
	for _, owner := range []string{"a", "a", "b", "b"} {
		testkit.Until(t, "free readers", testkit.Patience, func() (bool, string) { return r.Acquire(owner), owner })
	}
	want(t, "one too many", r.Acquire("c"), false)
	for _, owner := range []string{"a", "a", "b", "b"} {
		r.Release(owner)
	}
	want(t, "owners", len(r.owners), 0)
}
