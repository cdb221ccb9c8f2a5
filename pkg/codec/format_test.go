package codec_test

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/vmihailenco/msgpack/v5"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/orders"
	"github.com/quill-grid/quill/pkg/codec"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/testkit"
)

// TestFormat compares the manual's description of event lists with what is written: the order of the fields, the forms
// of keys, the numbers of operations.
func TestFormat(t *testing.T) {
	page := testkit.ReadPage(t, "../../tools/manual/formats.md")
	added := events.Add(&grid.Manager{Name: "alice"})
	list := events.List{Seq: 7, At: 1000, Cause: events.Cause{Who: "alice@h1", What: "qconf", Ref: "5", Token: 9,
		Proposal: 3, Proposer: "bob@h2"}, Events: []events.Event{
		added, events.Del(grid.KindJob, grid.Key{ID: 300}), events.Del(grid.KindJATask, grid.Key{ID: 300, Sub: 1}),
	}}
	var got []any
	if err := msgpack.Unmarshal(codec.AppendList(nil, list), &got); err != nil {
		t.Fatal(err)
	}
	arrays := map[string][]any{"list": got, "event": got[3].([]any)[0].([]any), "cause": got[2].([]any)}
	values := map[string]any{
		"sequence number": list.Seq, "time": list.At, "cause": arrays["cause"], "array of events": got[3],
		"operation": added.Op, "kind": added.Kind, "key": "alice", "the object in a byte string": codec.AppendObject(
			nil, added.Object),
		"who": "alice@h1", "what": "qconf", "reference": "5", "token": 9, "proposal": 3, "proposer": "bob@h2",
	}
	rows := page.Table("Event lists", "index")
	for c, name := range rows[0][1:] {
		var fields []any
		for _, row := range rows[1:] {
			if field := strings.FieldsFunc(row[c+1], func(r rune) bool { return r == ':' || r == ',' }); len(field) > 0 {
				fields = append(fields, values[field[0]])
			}
		}
		if want := fmt.Sprintf("%d", fields); fmt.Sprintf("%d", arrays[name]) != want {
			t.Errorf("the array of a %s is %d, that of the manual %s", name, arrays[name], want)
		}
	}
	for i, key := range []any{"alice", uint16(300), []any{uint16(300), int8(1), ""}} {
		if event := got[3].([]any)[i].([]any); !reflect.DeepEqual(event[2], key) || len(event) != 3 && i > 0 {
			t.Errorf("event %d is %#v, its key should be %#v", i, event, key)
		}
	}

	for op, name := range []string{"LIST", "ADD", "MOD", "DEL"} {
		if events.Op(op).String() != name || !strings.Contains(page.Text(), fmt.Sprintf("%d %s", op, name)) {
			t.Errorf("operation %d is %s", op, events.Op(op))
		}
	}
}

// TestRecordFormat compares the manual's description of recorded runs with what is written: the order of the fields.
func TestRecordFormat(t *testing.T) {
	refusal := orders.Refusal{Index: 2, Code: 3, Reason: "full"}
	order := &orders.RemoveImmediateJob{Job: 300}
	list := orders.List{Seq: 4, Scheduler: "s", Algorithm: "default", Run: 5, Orders: []orders.Order{order}, Epoch: 6,
		Since: 7, At: 8, Explain: true, Part: 9, Last: true}
	result := orders.Answer{Seq: 10, Refused: []orders.Refusal{refusal}}
	var record []any
	if err := msgpack.Unmarshal(codec.AppendRecord(nil, codec.AppendOrders(nil, list), codec.AppendResult(nil, result)),
		&record); err != nil {
		t.Fatal(err)
	}
	field := func(a any, i int) []any { return a.([]any)[i].([]any) }
	arrays := map[string][]any{"order list": field(record, 0), "result": field(record, 1)}
	arrays["order"], arrays["refusal"] = field(arrays["order list"][4], 0), field(arrays["result"][1], 0)
	values := map[string]reflect.Value{"order list": reflect.ValueOf(list), "result": reflect.ValueOf(result),
		"refusal": reflect.ValueOf(refusal)}
	rows := testkit.ReadPage(t, "../../tools/manual/formats.md").Table("Recorded runs", "index")
	for c, name := range rows[0][1:] {
		var fields []any
		for i, row := range rows[1:] {
			switch word, text, _ := strings.Cut(row[c+1], ":"); {
			case word == "":
			case strings.HasPrefix(text, " array of "):
				fields = append(fields, arrays[name][i])
			case name == "order":
				fields = append(fields, []any{order.Type(), []any{order.Job}}[i])
			default:
				fields = append(fields, values[name].FieldByName(word).Interface())
			}
		}
		if got, want := fmt.Sprintf("%d", arrays[name]), fmt.Sprintf("%d", fields); got != want {
			t.Errorf("the array of %s is %s, that of the manual %s", name, got, want)
		}
	}
}
