package codec

import (
	"reflect"
	"testing"

	"github.com/vmihailenco/msgpack/v5"

	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/wire"
)

// oldTask and newTask are layouts of a task in other versions of the program.
func oldTask(w *wire.Coder, t *grid.JATask) {
	m := w.Open()
	wire.Uns(w, &t.Job)
	wire.Uns(w, &t.ID)
	wire.Uns(w, &t.Attempt)
	w.Close(m)
}

func newTask(w *wire.Coder, t *grid.JATask) {
	jaTask(w, t)
	// Three more fields after the last, one of them nested.
	b := w.Bytes()
	b[0], b[2] = 0xdc, b[2]+3
	w.Raw([]byte{0x07, 0x92, 0x81, 0xa1, 'k', 0xc3, 0xa1, 'x', 0xc0})
}

func TestFieldsThatAreMissingKeepTheirDefault(t *testing.T) {
	b := appended(nil, &grid.JATask{Job: 7, ID: 3, Attempt: 2, PE: "mpi"}, oldTask)
	got, err := DecodeObject(grid.KindJATask, b)
	if err != nil {
		t.Fatal(err)
	}
	if want := (&grid.JATask{Job: 7, ID: 3, Attempt: 2}); !reflect.DeepEqual(got, want) {
		t.Errorf("%+v", got)
	}
}

func TestFieldsThatAreNewAreSkipped(t *testing.T) {
	want := &grid.JATask{Job: 7, ID: 3, PE: "mpi", NTickets: 0.5}
	got, err := DecodeObject(grid.KindJATask, appended(nil, want, newTask))
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got, grid.Object(want)) {
		t.Errorf("%+v", got)
	}
}

func TestConfigurationReadsByName(t *testing.T) {
	b, err := msgpack.Marshal(map[string]any{"Slots": 9, "Name": "mpi", "Colour": []any{"red", map[string]int{"x": 1}}})
	if err != nil {
		t.Fatal(err)
	}
	got, err := DecodeObject(grid.KindPE, b)
	if err != nil {
		t.Fatal(err)
	}
	if want := (&grid.PE{Name: "mpi", Slots: 9}); !reflect.DeepEqual(got, want) {
		t.Errorf("%+v", got)
	}
}
