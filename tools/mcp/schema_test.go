package mcp

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/state"
	"github.com/quill-grid/quill/tools/manual"
)

// TestRowSchemas: the rows of each listing match the schema that the tool names.
func TestRowSchemas(t *testing.T) {
	st := state.New()
	objects := append(grid.FreshCell(), &grid.ExecHost{Name: "h1"},
		&grid.HGroup{Name: "@allhosts", HostList: grid.Names{"h1"}},
		&grid.Load{Host: "h1", Processors: 4,
			Values: grid.Values{{Name: "load_avg", Text: "0.5"}, {Name: "mem_total", Text: "8G"}}},
		&grid.QInstance{Queue: "all.q", Host: "h1"},
		&grid.RQS{Name: "few", Enabled: true, Limits: grid.Names{"users {*} to slots=2"}},
		&grid.AR{ID: 1, Owner: "alice", Start: 1_700_000_000_000, Duration: 60})
	for id := range uint32(3) {
		j := &grid.Job{ID: id + 1, Owner: "alice", Name: "sleep", Tasks: grid.Range{First: 1, Last: 1, Step: 1},
			Submit: 1_700_000_000_000}
		j.Complete()
		if id > 0 {
			j.Pending = grid.Ranges{j.Tasks}
		}
		objects = append(objects, j)
	}
	objects = append(objects, &grid.JATask{Job: 1, ID: 1, Attempt: 1, Status: grid.Running, Start: 1_700_000_000_000,
		Grants: []grid.Grant{{Queue: "all.q", Host: "h1", Slots: 1}}})
	l := events.List{Seq: 1, At: 1_700_000_000_000}
	for _, o := range objects {
		l.Events = append(l.Events, events.Add(o))
	}
	st.Apply(l)
	field, _ := reflect.TypeFor[Listing]().FieldByName("Rows")
	for kind, of := range rowSchemas {
		if words := kind + " by " + of.schema; !strings.Contains(field.Tag.Get("jsonschema"), words) {
			t.Errorf("the description of the rows lacks %q", words)
		}
		if kind == "proposals" { // script mcp.txtar
			continue
		}
		rows, err := rowsOf(st, ListIn{Kind: ListKind(kind)})
		if err != nil || len(rows) == 0 {
			t.Errorf("%s: %d rows, %v", kind, len(rows), err)
			continue
		}
		for _, row := range rows {
			text, err := json.Marshal(row)
			if err != nil {
				t.Fatal(err)
			}
			valid := false
			for _, member := range of.members {
				if err = validate(t, of.schema, member, text); err == nil {
					valid = true
				}
			}
			if !valid {
				t.Errorf("a row of %s does not match %s: %v\n%s", kind, of.schema, err, text)
			}
		}
	}
}

// validate holds a row against the elements of a member of a document.
func validate(t *testing.T, schema, member string, row []byte) error {
	t.Helper()
	text, err := manual.File(schema + ".schema.json")
	if err != nil {
		t.Fatal(err)
	}
	whole := new(jsonschema.Schema)
	if err := json.Unmarshal([]byte(text), whole); err != nil {
		t.Fatal(err)
	}
	resolved, err := whole.Properties[member].Items.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	var instance any
	if err := json.Unmarshal(row, &instance); err != nil {
		t.Fatal(err)
	}
	return resolved.Validate(instance)
}
