package shepherd

import (
	"encoding/binary"
	"hash/crc32"
	"reflect"
	"strings"
	"testing"

	"github.com/vmihailenco/msgpack/v5"

	"github.com/quill-grid/quill/pkg/madeup"
	"github.com/quill-grid/quill/pkg/testkit"
)

// TestFormat compares the manual's description of the journal with a record in which every field is set.
func TestFormat(t *testing.T) {
	page := testkit.ReadPage(t, "../../tools/manual/formats.md")
	var r journalRecord
	new(madeup.Filler).Fill(&r)
	b := appendRecord(nil, &r)
	described := describing{t: t, structs: map[string][]string{}}
	for _, first := range []string{"record", "result"} {
		rows := page.Table("Journal", first)
		for i, name := range rows[0] {
			for _, row := range rows[1:] {
				if row[i] != "" {
					described.structs[name] = append(described.structs[name], row[i])
				}
			}
		}
	}
	var fields strings.Builder
	e := msgpack.NewEncoder(&fields)
	e.UseCompactInts(true)
	e.UseCompactFloats(true)
	if err := e.Encode(described.fields("record", reflect.ValueOf(r))); err != nil {
		t.Fatal(err)
	}
	page.Layout("Journal", binary.BigEndian, b, testkit.RecordFields{
		"mark": "\nQUILL", "check": int(crc32.ChecksumIEEE(b[10:])), "length": fields.Len(), "fields": fields.String(),
	})
}

// describing makes arrays of values as the manual describes their structures.
type describing struct {
	t       *testing.T
	structs map[string][]string // the fields, each as "Name: type"
}

func (d *describing) fields(name string, v reflect.Value) (array []any) {
	if d.structs[name] == nil {
		d.t.Fatalf("the manual has no structure %s", name)
	}
	for _, field := range d.structs[name] {
		name, kind, _ := strings.Cut(field, ": ")
		value := v.FieldByName(name)
		if !value.IsValid() {
			d.t.Fatalf("%s has no field %s", v.Type(), name)
		}
		array = append(array, d.value(kind, value))
	}
	return array
}

func (d *describing) value(kind string, v reflect.Value) any {
	first, of, _ := strings.Cut(kind, " ")
	if (first == "unsigned") != v.CanUint() || (first == "signed") != v.CanInt() {
		d.t.Fatalf("a %s is %s in the manual", v.Type(), kind)
	}
	switch first {
	case "unsigned":
		return v.Uint()
	case "signed":
		return v.Int()
	case "flag":
		return v.Bool()
	case "real":
		return v.Float()
	case "text":
		return v.String()
	case "list":
		list := []any{}
		for i := range v.Len() {
			list = append(list, d.value(strings.TrimPrefix(of, "of "), v.Index(i)))
		}
		return list
	case "optional":
		if v.IsNil() {
			return nil
		}
		return d.value(of, v.Elem())
	}
	return d.fields(kind, v)
}
