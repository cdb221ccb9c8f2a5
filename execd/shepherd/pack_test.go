package shepherd

import (
	"bytes"
	"fmt"
	"reflect"
	"sync"
	"testing"

	"github.com/quill-grid/quill/pkg/madeup"
)

// roundTrip packs a message in which every field is set, unpacks it, and cuts it at every byte.
func roundTrip[M any](t *testing.T, fields func(*packer, *M)) {
	t.Helper()
	var in, none M
	new(madeup.Filler).Fill(&in)
	b := pack(nil, &in, fields)
	var out M
	if !unpack(string(b), &out, fields) || !reflect.DeepEqual(in, out) {
		t.Errorf("%T: packed\n%+v\nunpacked\n%+v", in, in, out)
	}
	for n := 1; n < len(b); n++ {
		if unpack(string(b[:n]), new(M), fields) {
			t.Fatalf("%T: %d of %d bytes were taken for a message", in, n, len(b))
		}
	}
	var empty M
	if !unpack(string(pack(nil, &none, fields)), &empty, fields) || !reflect.DeepEqual(none, empty) {
		t.Errorf("%T: nothing became %+v", in, empty)
	}
}

func TestPackedMessagesLoseNothing(t *testing.T) {
	roundTrip(t, requestFields)
	roundTrip(t, replyFields)
	roundTrip(t, recordFields)
}

// What is packed is read only: an attempt goes to several connections at once. It is
// the race detector that tells.
func TestPackingOnlyReads(t *testing.T) {
	var m reply
	new(madeup.Filler).Fill(&m)
	var packing sync.WaitGroup
	var texts [2][]byte
	for i := range texts {
		packing.Go(func() { texts[i] = pack(nil, &m, replyFields) })
	}
	packing.Wait()
	if len(texts[0]) == 0 || !bytes.Equal(texts[0], texts[1]) {
		t.Errorf("%q and %q", texts[0], texts[1])
	}
}

// What one version writes another reads: fields it does not know are passed over, fields that are missing are zero.
func TestPackedMessagesOfOtherVersions(t *testing.T) {
	type older struct{ A uint32 }
	type newer struct {
		A uint32
		B string
	}
	olderFields := func(p *packer, o *older) { uns(p, &o.A) }
	newerFields := func(p *packer, n *newer) { uns(p, &n.A); p.text(&n.B) }
	var olders []older
	var newers []newer
	text := string(pack(nil, &[]newer{{1, "one"}, {2, "two"}}, func(p *packer, v *[]newer) { structs(p, v, newerFields) }))
	if !unpack(text, &olders, func(p *packer, v *[]older) { structs(p, v, olderFields) }) {
		t.Fatal("not read")
	}
	want(t, "by an older one", fmt.Sprint(olders), "[{1} {2}]")
	text = string(pack(nil, &olders, func(p *packer, v *[]older) { structs(p, v, olderFields) }))
	if !unpack(text, &newers, func(p *packer, v *[]newer) { structs(p, v, newerFields) }) {
		t.Fatal("not read")
	}
	want(t, "by a newer one", fmt.Sprint(newers), "[{1 } {2 }]")
}
