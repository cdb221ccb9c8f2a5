package codec_test

import (
	"fmt"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/pkg/codec"
	"github.com/quill-grid/quill/pkg/grid"
)

// An event list is decoded from the bytes that are in the log, and printed as qevent prints it.
func ExampleDecodeList() {
	stored := codec.AppendList(nil, events.List{Seq: 7, At: 1_000_000_000, Events: []events.Event{
		events.Add(&grid.Project{Name: "gold", FShare: 100}),
		events.Del(grid.KindProject, grid.Key{Name: "tin"}),
	}})
	list, _, err := codec.DecodeList(stored)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("list", list.Seq)
	for _, e := range list.Events {
		fmt.Println(e.Op, e.Kind, e.Key.Name)
	}
	// Output:
	// list 7
	// ADD PROJECT gold
	// DEL PROJECT tin
}
