package document

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"iter"
	"math"
	"reflect"
	"strings"
	"time"

	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/view"
)

// Document is a listing as one JSON object: a struct whose fields are its members.
type Document interface {
	SchemaName() string // of the file with its JSON Schema, without .schema.json
}

// Documents returns the documents of all listings, by schema.
func Documents() []Document {
	return append(objectDocuments(), Accounting{}, ClusterQueues{}, CreatedToken{}, Detached{}, EventClients{}, GPUs{},
		GroupTree{}, Hosts{}, JobDetails{},
		Jobs{}, Names{}, Proposals{}, Queues{}, Quotas{}, Reasons{}, Reservations{}, Results{}, Selected{},
		ShareTree{}, Tokens{},
		Algorithms{}, AttackReport{}, Attacks{}, Explanation{}, File{}, Keys{}, Links{}, Log{}, LogCheck{}, LogCopy{},
		MadeKey{}, Manual{}, Output{},
		Status{}, Version{})
}

// Dialect is the member $schema of every document: the JSON Schema dialect of the schemas.
const Dialect = "https://json-schema.org/draft/2020-12/schema"

// ID returns the member $id of a document: the identifier of its schema.
func ID(d Document) string { return "urn:quill:schema:" + d.SchemaName() }

// Rows are the elements of a member of a Document that are made while they are written.
type Rows[T any] iter.Seq[T]

// rowsOf returns the rows made of a list.
func rowsOf[R, T any](list []R, row func(R) T) Rows[T] {
	return func(yield func(T) bool) {
		for _, r := range list {
			if !yield(row(r)) {
				return
			}
		}
	}
}

// RowsOf returns the rows of a list.
func RowsOf[T any](list []T) Rows[T] { return rowsOf(list, func(t T) T { return t }) }

// Element returns the type of the elements.
func (r Rows[T]) Element() reflect.Type { return reflect.TypeFor[T]() }

func (r Rows[T]) each(visit func(any) error) error {
	if r == nil {
		return nil
	}
	for row := range r {
		if err := visit(row); err != nil {
			return err
		}
	}
	return nil
}

// Write writes a document: a line for each member, and in Rows a line for each element. It
// fails when w does.
func Write(w io.Writer, d Document) error { return WriteWith(w, d, nil) }

// Partial reports whether a document may lack a part of what was requested: it has errors then.
func Partial(d Document) bool {
	switch d.(type) {
	case Accounting, Detached, GroupTree, Names, Objects, Reservations, ShareTree:
		return true
	}
	return false
}

// WriteWith writes a listing that is Partial with what was requested and is not in it. The function is called after the
// rows are written.
func WriteWith(w io.Writer, d Document, missing func() []RequestError) error {
	p := &printer{w: bufio.NewWriterSize(w, 32<<10)}
	p.encoder = json.NewEncoder(&p.buf)
	p.encoder.SetEscapeHTML(false)
	p.text("{\n\"$schema\": \"" + Dialect + "\",\n\"$id\": \"" + ID(d) + "\"")
	v := reflect.ValueOf(d)
	for i := range v.NumField() {
		name, rest, _ := strings.Cut(v.Type().Field(i).Tag.Get("json"), ",")
		if name == "" || name == "-" || rest == "omitzero" && v.Field(i).IsZero() {
			continue
		}
		p.text(",\n\"" + name + "\": ")
		if err := p.member(v.Field(i).Interface()); err != nil {
			return err
		}
	}
	if missing != nil {
		if list := missing(); len(list) > 0 {
			p.text(",\n\"errors\": ")
			if err := p.member(list); err != nil {
				return err
			}
		}
	}
	p.text("\n}\n")
	return p.w.Flush()
}

type printer struct {
	w       *bufio.Writer // keeps its first error until Flush
	buf     bytes.Buffer
	encoder *json.Encoder
}

func (p *printer) text(s string) { _, _ = p.w.WriteString(s) }

// member writes the value of a member: lists of objects with an object on each line.
func (p *printer) member(v any) error {
	rows, ok := v.(interface{ each(func(any) error) error })
	if t := reflect.TypeOf(v); !ok && t.Kind() == reflect.Slice && t.Elem().Kind() == reflect.Struct {
		rows, ok = structs(reflect.ValueOf(v)), true
	}
	if !ok {
		return p.value(v)
	}
	separator, end := "[\n", "[]"
	err := rows.each(func(row any) error {
		p.text(separator)
		separator, end = ",\n", "\n]"
		return p.value(row)
	})
	p.text(end)
	return err
}

// structs are the elements of a list of objects.
type structs reflect.Value

func (l structs) each(write func(any) error) error {
	for i := range reflect.Value(l).Len() {
		if err := write(reflect.Value(l).Index(i).Interface()); err != nil {
			return err
		}
	}
	return nil
}

// value writes a value on one line.
func (p *printer) value(v any) error {
	p.buf.Reset()
	if err := p.encoder.Encode(v); err != nil {
		return err
	}
	_, err := p.w.Write(bytes.TrimSuffix(p.buf.Bytes(), []byte("\n")))
	return err
}

// list returns a list that is not nil: JSON has [] for it.
func list[T any](l []T) []T { return append([]T{}, l...) }

// known returns the number, nil when it is not known or JSON has no text for it.
func known(n *float64) *float64 {
	if n == nil || math.IsNaN(*n) || math.IsInf(*n, 0) {
		return nil
	}
	return n
}

// rounded returns the number: sizes are whole bytes.
func rounded(t grid.CentryType, n float64) float64 {
	if t == "MEMORY" {
		return math.Round(n)
	}
	return n
}

// bytesOf returns whole bytes, nil when the number is not known.
func bytesOf(n *float64) *int64 {
	if n = known(n); n == nil {
		return nil
	}
	return new(int64(math.Round(*n)))
}

// timeOf returns the moment in UTC, the zero time when it is not set or RFC 3339 has no text for it.
func timeOf(t grid.Time) time.Time {
	if u := t.Std().UTC(); u.Year() <= 9999 {
		return u
	}
	return time.Time{}
}

// Value is the value of an attribute of the complex: a number in bytes, seconds or units, a
// boolean, or a text, by the type of the attribute. "infinity" is an unlimited number.
type Value any

func valueOf(r view.Resource) Value {
	switch {
	case !r.Type.Numeric() || math.IsNaN(r.Number) || math.IsInf(r.Number, -1):
		return r.Text
	case r.Number >= grid.Infinity:
		return "infinity"
	case r.Type == "BOOL":
		return r.Number != 0
	}
	return rounded(r.Type, r.Number)
}

// Named is a name with a value.
type Named struct {
	Name  string `json:"name"`
	Value Value  `json:"value" jsonschema:"number (bytes, seconds or units), boolean or text by the type of the attribute; the text infinity is unlimited"`
}
