package bus

import (
	"fmt"
	"math"
	"os"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"golang.org/x/sys/unix"

	"github.com/quill-grid/quill/pkg/testkit"
)

// debugTexts is what the debug stream has.
func debugTexts(t *testing.T, c *Conn) (texts []string) {
	t.Helper()
	if err := NewDebug(c, 1).Read(func(data []byte) error {
		texts = append(texts, string(data[:min(len(data), 8)]))
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return texts
}

// putDebug puts messages and waits until the server has seen them.
func putDebug(t *testing.T, d *Debug, from, to int, size int) {
	t.Helper()
	for i := from; i <= to; i++ {
		data := make([]byte, size)
		copy(data, fmt.Sprintf("%08d", i))
		d.Put(7, data)
	}
	// An answer of the stream's own shows that it has taken what came before.
	if _, err := d.conn.request(t.Context(), &nats.Msg{Subject: debugPrefix + "x", Data: []byte("last")}); err != nil {
		t.Fatal(err)
	}
}

func TestDebugStream(t *testing.T) {
	dir := t.TempDir()
	s, err := Start(ServerOptions{Dir: dir, Durable: true})
	if err != nil {
		t.Fatal(err)
	}
	c := inside(t, s, qmaster)
	d := NewDebug(c, 1)
	if texts := debugTexts(t, c); texts != nil {
		t.Errorf("a stream that is not there has %q", texts)
	}
	d.Put(7, []byte("00000000")) // held until there is a stream
	keep := func(r Retention) {
		t.Helper()
		if err := d.SetRetention(r); err != nil {
			t.Fatal(err)
		}
	}
	keep(Retention{Age: time.Hour, Bytes: 1 << 20})
	putDebug(t, d, 1, 3, 100)
	if texts := debugTexts(t, c); fmt.Sprint(texts) != "[00000000 00000001 00000002 00000003 last]" {
		t.Errorf("%q", texts)
	}
	c.Close()
	s.Stop()

	s = startServer(t, ServerOptions{Dir: dir, Durable: true})
	c = inside(t, s, qmaster)
	if texts := debugTexts(t, c); fmt.Sprint(texts) != "[00000000 00000001 00000002 00000003 last]" {
		t.Errorf("after a restart: %q", texts)
	}
	d = NewDebug(c, 1)
	keep(Retention{Bytes: 64 << 10})
	putDebug(t, d, 4, 100, 8<<10)
	texts := debugTexts(t, c)
	if n := len(texts); n < 4 || n > 8 || texts[n-2] != "00000100" {
		t.Errorf("of 64 KiB: %q", texts)
	}
	keep(Retention{})
	if texts := debugTexts(t, c); texts != nil || d.Enabled() {
		t.Errorf("nothing is kept, and there are %q", texts)
	}
	keep(Retention{Bytes: 1 << 20})
	putDebug(t, d, 1, 1, 100)
	if texts := debugTexts(t, c); len(texts) != 2 {
		t.Errorf("kept again: %q", texts)
	}
}

// What is removed while it is being read is not waited for.
func TestDebugStreamEmptiedUnderItsReader(t *testing.T) {
	c := inside(t, startServer(t, ServerOptions{}), qmaster)
	d := NewDebug(c, 1)
	if err := d.SetRetention(Retention{Bytes: 64 << 20}); err != nil {
		t.Fatal(err)
	}
	const all = 1000 // 8 MB, of which the server sends 2 ahead
	putDebug(t, d, 1, all, 8<<10)
	read, begun := 0, time.Now()
	err := NewDebug(c, 1).Read(func([]byte) error {
		if read++; read == 1 {
			return d.SetRetention(Retention{})
		}
		return nil
	})
	if err != nil || read == 0 || read > all || time.Since(begun) > readWait/2 {
		t.Errorf("%d of %d read in %v: %v", read, all, time.Since(begun), err)
	}
}

func TestDebugStreamOfAnExternalServer(t *testing.T) {
	connect := external(t)
	d := NewDebug(connect(), 1)
	if err := d.SetRetention(Retention{Age: time.Hour, Bytes: 1 << 20}); err != nil {
		t.Fatal(err)
	}
	putDebug(t, d, 1, 2, 100)
	if texts := debugTexts(t, connect()); fmt.Sprint(texts) != "[00000001 00000002 last]" {
		t.Errorf("%q", texts)
	}
}

// TestDebugStreamWithoutSuccessor: when the server refuses to make the stream anew, what the old one had is stored once
// it does.
func TestDebugStreamWithoutSuccessor(t *testing.T) {
	c := inside(t, startServer(t, ServerOptions{}), qmaster)
	d := NewDebug(c, 1)
	keep := Retention{Bytes: 1 << 20}
	if err := d.SetRetention(keep); err != nil {
		t.Fatal(err)
	}
	putDebug(t, d, 1, 4, 100)
	testkit.Until(t, "all messages are acknowledged, and the stream is taken for broken all the same", testkit.Patience,
		func() (bool, string) {
			d.mu.Lock()
			defer d.mu.Unlock()
			d.retries = retriesMax
			return len(d.held) == 0, fmt.Sprint(len(d.held))
		})
	if err := d.SetRetention(Retention{Bytes: math.MaxInt64}); err == nil {
		t.Fatal("the server has made a stream larger than all disks")
	}
	if err := d.SetRetention(keep); err != nil {
		t.Fatal(err)
	}
	putDebug(t, d, 5, 5, 100)
	if texts := debugTexts(t, c); fmt.Sprint(texts) != "[00000001 00000002 00000003 00000004 last 00000005 last]" {
		t.Errorf("%q", texts)
	}
}

// TestDebugStreamRecovers: a stream that could not be written for lack of file
// descriptors is written again when there are some: it is made anew with what it had,
// and with what was put meanwhile.
func TestDebugStreamRecovers(t *testing.T) {
	defer func(usual time.Duration) { ackLate = usual }(ackLate)
	ackLate = 200 * time.Millisecond
	c := inside(t, startServer(t, ServerOptions{}), qmaster)
	d := NewDebug(c, 1)
	keep := Retention{Bytes: 256 << 20}
	if err := d.SetRetention(keep); err != nil {
		t.Fatal(err)
	}
	const size = 1 << 20
	putDebug(t, d, 1, 4, size)
	var files unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &files); err != nil {
		t.Fatal(err)
	}
	next, err := os.Open(os.DevNull) // the lowest free descriptor
	if err != nil {
		t.Fatal(err)
	}
	none := unix.Rlimit{Cur: uint64(next.Fd()), Max: files.Max}
	next.Close()
	if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &none); err != nil {
		t.Fatal(err)
	}
	defer unix.Setrlimit(unix.RLIMIT_NOFILE, &files)
	var spent []*os.File // what is closed meanwhile, of the tests before, would be a descriptor for the server
	exhaust := func() {
		for f, err := os.Open(os.DevNull); err == nil; f, err = os.Open(os.DevNull) {
			spent = append(spent, f)
		}
	}
	last := 4
	held := func() int {
		d.mu.Lock()
		defer d.mu.Unlock()
		return len(d.held)
	}
	testkit.Until(t, "a message that the server cannot store, without a file to store it in", testkit.Patience,
		func() (bool, string) {
			if exhaust(); held() == 0 {
				last++
				data := make([]byte, size)
				copy(data, fmt.Sprintf("%08d", last))
				d.Put(7, data)
			}
			return d.AckOverdue(), fmt.Sprintf("message %d", last)
		})
	t.Logf("message %d is not stored", last)
	if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &files); err != nil {
		t.Fatal(err)
	}
	for _, f := range spent {
		f.Close()
	}
	failed := false
	testkit.Until(t, "all messages are stored", testkit.Patience, func() (bool, string) {
		if failed || d.AckOverdue() {
			err := d.SetRetention(keep)
			if failed = err != nil; failed {
				t.Log(err)
			}
		}
		n := held()
		return n == 0, fmt.Sprintf("%d not stored", n)
	})
	putDebug(t, d, last+1, last+1, size)
	texts := debugTexts(t, c)
	have := map[string]bool{}
	for _, text := range texts {
		have[text] = true
	}
	for n := max(1, last-10); n <= last+1; n++ { // of so many bytes the newest are taken over
		if !have[fmt.Sprintf("%08d", n)] {
			t.Errorf("message %d is missing in %q", n, texts)
		}
	}
}
