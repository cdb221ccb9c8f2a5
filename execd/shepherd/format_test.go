package shepherd

import (
	"encoding/binary"
	"hash/crc32"
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/quill-grid/quill/pkg/formattest"
	"github.com/quill-grid/quill/pkg/madeup"
)

// TestFormat compares the manual's description of the journal with a record in which every field is set.
func TestFormat(t *testing.T) {
	page := formattest.Read(t, "../../tools/manual/formats.md")
	var r record
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
	fields := string(described.fields("record", reflect.ValueOf(r)))
	page.Layout("Journal", binary.LittleEndian, b, formattest.Fields{
		"mark": "\nQUILL", "check": int(crc32.ChecksumIEEE(b[10:])), "length": len(fields), "fields": fields,
	})
}

// describing writes values as the manual describes their structures.
type describing struct {
	t       *testing.T
	structs map[string][]string // the fields, each as "Name: type"
}

func (d *describing) fields(name string, v reflect.Value) (b []byte) {
	if d.structs[name] == nil {
		d.t.Fatalf("the manual has no structure %s", name)
	}
	for _, field := range d.structs[name] {
		name, kind, _ := strings.Cut(field, ": ")
		value := v.FieldByName(name)
		if !value.IsValid() {
			d.t.Fatalf("%s has no field %s", v.Type(), name)
		}
		b = append(b, d.value(kind, value)...)
	}
	return b
}

func (d *describing) value(kind string, v reflect.Value) (b []byte) {
	first, of, _ := strings.Cut(kind, " ")
	if first == "unsigned" && !v.CanUint() || (first == "signed") != v.CanInt() {
		d.t.Fatalf("a %s is %s in the manual", v.Type(), kind)
	}
	switch first {
	case "unsigned":
		return binary.AppendUvarint(b, v.Uint())
	case "signed":
		return binary.AppendVarint(b, v.Int())
	case "flag":
		if v.Bool() {
			return []byte{1}
		}
		return []byte{0}
	case "real":
		return binary.AppendUvarint(b, math.Float64bits(v.Float()))
	case "text":
		return append(binary.AppendUvarint(b, uint64(v.Len())), v.String()...)
	case "list":
		b = binary.AppendUvarint(b, uint64(v.Len()))
		for i := range v.Len() {
			b = append(b, d.value(strings.TrimPrefix(of, "of "), v.Index(i))...)
		}
		return b
	case "optional":
		if v.IsNil() {
			return []byte{0}
		}
		return append([]byte{1}, d.value(of, v.Elem())...)
	case "attempt":
		return d.fields(kind, v)
	}
	fields := d.fields(kind, v)
	return append(binary.LittleEndian.AppendUint32(b, uint32(len(fields))), fields...)
}
