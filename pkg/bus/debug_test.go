package bus

import (
	"fmt"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
)

// debugTexts is what the debug stream has.
func debugTexts(t *testing.T, c *Conn) (texts []string) {
	t.Helper()
	if err := NewDebug(c).Read(func(data []byte) error {
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
		if err := d.Put(7, data); err != nil {
			t.Fatal(err)
		}
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
	d := NewDebug(c)
	if texts := debugTexts(t, c); texts != nil {
		t.Errorf("a stream that is not there has %q", texts)
	}
	if err := d.Put(7, []byte("nobody keeps this")); err != nil {
		t.Fatal(err)
	}
	keep := func(r Retention) {
		t.Helper()
		if err := d.Keep(r); err != nil {
			t.Fatal(err)
		}
	}
	keep(Retention{Age: time.Hour, Bytes: 1 << 20})
	putDebug(t, d, 1, 3, 100)
	if texts := debugTexts(t, c); fmt.Sprint(texts) != "[00000001 00000002 00000003 last]" {
		t.Errorf("%q", texts)
	}
	c.Close()
	s.Stop()

	s = startServer(t, ServerOptions{Dir: dir, Durable: true})
	c = inside(t, s, qmaster)
	if texts := debugTexts(t, c); fmt.Sprint(texts) != "[00000001 00000002 00000003 last]" {
		t.Errorf("after a restart: %q", texts)
	}
	d = NewDebug(c)
	keep(Retention{Bytes: 64 << 10})
	putDebug(t, d, 4, 100, 8<<10)
	texts := debugTexts(t, c)
	if n := len(texts); n < 4 || n > 8 || texts[n-2] != "00000100" {
		t.Errorf("of 64 KiB: %q", texts)
	}
	keep(Retention{})
	if texts := debugTexts(t, c); texts != nil || d.On() {
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
	d := NewDebug(c)
	if err := d.Keep(Retention{Bytes: 64 << 20}); err != nil {
		t.Fatal(err)
	}
	const all = 1000 // 8 MB, of which the server sends 2 ahead
	putDebug(t, d, 1, all, 8<<10)
	read, begun := 0, time.Now()
	err := NewDebug(c).Read(func([]byte) error {
		if read++; read == 1 {
			return d.Keep(Retention{})
		}
		return nil
	})
	if err != nil || read == 0 || read > all || time.Since(begun) > readWait/2 {
		t.Errorf("%d of %d read in %v: %v", read, all, time.Since(begun), err)
	}
}

func TestDebugStreamOfAnExternalServer(t *testing.T) {
	connect := external(t)
	d := NewDebug(connect())
	if err := d.Keep(Retention{Age: time.Hour, Bytes: 1 << 20}); err != nil {
		t.Fatal(err)
	}
	putDebug(t, d, 1, 2, 100)
	if texts := debugTexts(t, connect()); fmt.Sprint(texts) != "[00000001 00000002 last]" {
		t.Errorf("%q", texts)
	}
}
