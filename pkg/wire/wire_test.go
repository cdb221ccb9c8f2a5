package wire_test

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/quill-grid/quill/pkg/wire"
)

// all has a field of each kind.
type all struct {
	Small uint8
	Large uint64
	Sign  int32
	Yes   bool
	Real  float64
	Text  string
	List  []all
	Opt   *all
	Own   []byte // with its length in front
	Any   []byte // a value of any shape
	Data  []byte
}

func layout(w *wire.Coder, v *all) {
	m := w.Open()
	wire.Uns(w, &v.Small)
	wire.Uns(w, &v.Large)
	wire.Sig(w, &v.Sign)
	w.Bool(&v.Yes)
	w.Float(&v.Real)
	w.Text(&v.Text)
	wire.List(w, &v.List, layout)
	wire.Opt(w, &v.Opt, layout)
	w.Nested(func(w *wire.Coder) { w.Raw(v.Own) }, func(b []byte) { v.Own = bytes.Clone(b) })
	w.Value(func() []byte { return []byte(cmp.Or(string(v.Any), "\xc0")) },
		func(b []byte) error { v.Any = bytes.Clone(b); return nil })
	w.Data(&v.Data)
	w.Close(m)
}

func write(v all, layout func(*wire.Coder, *all)) []byte {
	w := wire.Writer(nil, nil)
	layout(&w, &v)
	return w.Bytes()
}

func read(b []byte, layout func(*wire.Coder, *all)) (v all, err error) {
	return readWith(b, layout, (*wire.Coder).LimitRoom)
}

func readWith(b []byte, layout func(*wire.Coder, *all), set func(*wire.Coder)) (v all, err error) {
	w := wire.Reader(b, nil)
	set(&w)
	layout(&w, &v)
	return v, w.End()
}

func full(depth int) all {
	v := all{Small: 200, Large: 1 << 63, Sign: -70_000, Yes: true, Real: 0.1, Text: strings.Repeat("é", 40),
		Own: make([]byte, 300), Any: []byte{0x81, 0xa1, 'k', 0x07}, Data: []byte("bytes")}
	if depth > 0 {
		v.List, v.Opt = []all{full(depth - 1), {Own: []byte{}, Any: []byte{0xc0}}}, &all{Own: []byte{}, Any: []byte{0xc3}}
	}
	return v
}

// TestRoundTrip checks that what is written is read, and that bytes that were cut anywhere are an error.
func TestRoundTrip(t *testing.T) {
	in := full(2)
	b := write(in, layout)
	out, err := read(b, layout)
	if err != nil || !reflect.DeepEqual(in, out) {
		t.Errorf("wrote %+v, read %+v: %v", in, out, err)
	}
	for n := range b {
		if _, err := read(b[:n], layout); err == nil {
			t.Fatalf("%d of %d bytes were read as a whole value", n, len(b))
		}
	}
	if _, err := read(append(b, 0xc0), layout); !errors.Is(err, wire.ErrExtra) {
		t.Errorf("a value and one more byte: %v", err)
	}
}

// TestShare checks that strings and bytes share the memory of the input when the reader is asked for that, and only
// then.
func TestShare(t *testing.T) {
	for _, c := range []struct {
		set  func(*wire.Coder)
		want string
	}{
		{func(*wire.Coder) {}, "text data"},
		{(*wire.Coder).Share, "tex! dat!"},
	} {
		b := write(all{Text: "text", Data: []byte("data")}, layout)
		v, err := readWith(b, layout, c.set)
		b[bytes.Index(b, []byte("text"))+3], b[bytes.Index(b, []byte("data"))+3] = '!', '!'
		if got := v.Text + " " + string(v.Data); got != c.want || err != nil {
			t.Errorf("read %q, %v, want %q", got, err, c.want)
		}
	}
}

// TestListInPlace checks that a list takes memory once, not for each element.
func TestListInPlace(t *testing.T) {
	in := make([]int, 100)
	w := wire.Writer(nil, nil)
	wire.List(&w, &in, wire.Sig[int])
	if n := testing.AllocsPerRun(10, func() {
		r := wire.Reader(w.Bytes(), nil)
		var out []int
		wire.List(&r, &out, wire.Sig[int])
	}); n > 5 {
		t.Errorf("100 numbers took memory %v times", n)
	}
}

// TestBytes shows the bytes of a few values.
func TestBytes(t *testing.T) {
	for _, c := range []struct {
		v      all
		layout func(*wire.Coder, *all)
		want   string
	}{
		{all{}, first, "93 00 00 00"},
		{all{Small: 255, Large: 256, Sign: -33}, first, "93 cc ff cd 01 00 d0 df"},
		{all{List: make([]all, 2)}, lists, "91 92 93 00 00 00 93 00 00 00"},
		{all{Text: "ab", Real: 2, Data: []byte("c")}, texts, "93 a2 61 62 02 c4 01 63"},
	} {
		if got := fmt.Sprintf("% x", write(c.v, c.layout)); got != c.want {
			t.Errorf("%+v: %s, want %s", c.v, got, c.want)
		}
	}
}

// first has the first three fields: a layout of an older program.
func first(w *wire.Coder, v *all) {
	m := w.Open()
	wire.Uns(w, &v.Small)
	wire.Uns(w, &v.Large)
	wire.Sig(w, &v.Sign)
	w.Close(m)
}

func lists(w *wire.Coder, v *all) {
	m := w.Open()
	wire.List(w, &v.List, first)
	w.Close(m)
}

func texts(w *wire.Coder, v *all) {
	m := w.Open()
	w.Text(&v.Text)
	w.Float(&v.Real)
	w.Data(&v.Data)
	w.Close(m)
}

// TestOtherVersions checks that a reader skips fields that its layout does not have, and leaves those zero that the
// writer did not have, within lists, too.
func TestOtherVersions(t *testing.T) {
	three := all{Small: 1, Large: 2, Sign: 3}
	if got, err := read(write(full(1), layout), first); err != nil || got.Sign != -70_000 {
		t.Errorf("an older reader: %+v, %v", got, err)
	}
	if got, err := read(write(three, first), layout); err != nil || !reflect.DeepEqual(got, three) {
		t.Errorf("a newer reader: %+v, %v", got, err)
	}
	newer := func(w *wire.Coder, v *all) {
		m := w.Open()
		wire.List(w, &v.List, layout)
		w.Close(m)
	}
	if got, err := read(write(all{List: []all{three, three}}, lists), newer); err != nil ||
		!reflect.DeepEqual(got.List, []all{three, three}) {
		t.Errorf("a newer reader of a list: %+v, %v", got, err)
	}
}

// FuzzReader checks that no bytes make a reader panic or take much memory, and that what was read without an error is
// written and read to the same value.
func FuzzReader(f *testing.F) {
	f.Add(write(full(2), layout))
	f.Add(write(all{Any: []byte{0xc0}}, layout))
	f.Fuzz(func(t *testing.T, b []byte) {
		v, err := read(b, layout)
		if err != nil {
			return
		}
		b = write(v, layout)
		for _, set := range []func(*wire.Coder){func(*wire.Coder) {}, (*wire.Coder).Share} {
			if v, err = readWith(b, layout, set); err != nil || !bytes.Equal(write(v, layout), b) {
				t.Errorf("% x was read as %+v: %v", b, v, err)
			}
		}
	})
}
