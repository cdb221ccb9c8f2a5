package shepherd

import (
	"bytes"
	"fmt"
	"reflect"
	"sync"
	"testing"

	"github.com/quill-grid/quill/execd/plan"
	"github.com/quill-grid/quill/pkg/madeup"
	"github.com/quill-grid/quill/pkg/report"
	"github.com/quill-grid/quill/pkg/wire"
)

// filled is a value in which every field is set.
func filled[M any]() (m M) {
	new(madeup.Filler).Fill(&m)
	return m
}

// roundTrip packs a message in which every field is set, unpacks it, and cuts it at every byte.
func roundTrip[M any](t *testing.T, fields func(*wire.Coder, *M)) {
	t.Helper()
	var none, out, empty M
	in := filled[M]()
	b := pack(nil, &in, fields)
	if err := unpack(b, &out, fields); err != nil || !reflect.DeepEqual(in, out) {
		t.Errorf("%T: packed\n%+v\nunpacked\n%+v, %v", in, in, out, err)
	}
	for n := range b {
		if unpack(b[:n], new(M), fields) == nil {
			t.Fatalf("%T: %d of %d bytes were taken for a message", in, n, len(b))
		}
	}
	if err := unpack(pack(nil, &none, fields), &empty, fields); err != nil || !reflect.DeepEqual(none, empty) {
		t.Errorf("%T: nothing became %+v, %v", in, empty, err)
	}
}

func TestPackedMessagesLoseNothing(t *testing.T) {
	roundTrip(t, requestFields)
	roundTrip(t, replyFields)
	roundTrip(t, recordFields)
	roundTrip(t, starterFields)
	roundTrip(t, startFaultFields)
}

// What is packed is read only: an attempt goes to several connections at once. The race detector finds a write.
func TestPackingOnlyReads(t *testing.T) {
	m := filled[reply]()
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

// What one version writes another reads: fields it does not know are skipped, fields that are missing are zero.
func TestPackedMessagesOfOtherVersions(t *testing.T) {
	before := func(w *wire.Coder, s *plan.Status) { // a version with the first two fields
		m := w.Open()
		attemptFields(w, &s.Attempt)
		wire.Uns(w, &s.State)
		w.Close(m)
	}
	full := filled[plan.Status]()
	want := fmt.Sprintf("%+v", []plan.Status{{Attempt: full.Attempt, State: full.State}, {}})
	list := func(fields func(*wire.Coder, *plan.Status)) func(*wire.Coder, *[]plan.Status) {
		return func(w *wire.Coder, s *[]plan.Status) { wire.List(w, s, fields) }
	}
	for name, c := range map[string][2]func(*wire.Coder, *plan.Status){
		"written before": {before, statusFields}, "read before": {statusFields, before},
	} {
		var got []plan.Status
		err := unpack(pack(nil, &[]plan.Status{full, {}}, list(c[0])), &got, list(c[1]))
		if text := fmt.Sprintf("%+v", got); err != nil || text != want {
			t.Errorf("%s: %s, %v\nwant %s", name, text, err, want)
		}
	}
}

// A host may have any number of attempts: what hostile bytes may take of memory is no bound for what programs send.
func TestManyAreRead(t *testing.T) {
	const n = 50_000
	up := request{Plans: make([]plan.Plan, n), Attempts: make([]report.Attempt, n)}
	down := reply{Answers: make([]plan.Answer, n), Statuses: make([]plan.Status, n), Gone: make([]report.Attempt, n),
		Used: make([]plan.Used, n)}
	if err := unpack(pack(nil, &up, requestFields), new(request), requestFields); err != nil {
		t.Error(err)
	}
	if err := unpack(pack(nil, &down, replyFields), new(reply), replyFields); err != nil {
		t.Error(err)
	}
}

// again checks that bytes are rejected, or read as a value that is written and read to the same.
func again[M any](t *testing.T, b []byte, fields func(*wire.Coder, *M)) {
	var m, same M
	if unpack(b, &m, fields) != nil {
		return
	}
	b = pack(nil, &m, fields)
	if err := unpack(b, &same, fields); err != nil || !bytes.Equal(pack(nil, &same, fields), b) {
		t.Errorf("%+v became %+v, %v", m, same, err)
	}
}

// FuzzUnpack checks that no bytes make a reader panic or take much memory. A fault comes from a process of the job's
// owner.
func FuzzUnpack(f *testing.F) {
	up, down, r, e, why := filled[request](), filled[reply](), filled[journalRecord](), filled[starterTask](),
		filled[startFault]()
	for _, b := range [][]byte{
		pack(nil, &up, requestFields), pack(nil, &down, replyFields), pack(nil, &r, recordFields),
		pack(nil, &e, starterFields), pack(nil, &why, startFaultFields),
	} {
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		again(t, b, requestFields)
		again(t, b, replyFields)
		again(t, b, recordFields)
		again(t, b, starterFields)
		again(t, b, startFaultFields)
	})
}
