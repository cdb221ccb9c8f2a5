package document

import (
	"reflect"
	"strings"
	"time"

	"github.com/quill-grid/quill/pkg/conf"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/view"
)

// Objects is qconf -sq, -se, -sconf and so on: configuration objects of a kind. There is a schema for each kind.
type Objects struct {
	kind    grid.Kind
	Objects objects `json:"objects" jsonschema:"in the order requested, else by name"`
}

// SchemaName returns qconf- and the kind's name in events, in small letters: qconf-cqueue.
func (d Objects) SchemaName() string { return "qconf-" + strings.ToLower(d.kind.String()) }

// objectDocuments are the documents of all kinds whose objects have attributes.
func objectDocuments() (out []Document) {
	for i := range grid.Kinds {
		if k := grid.Kinds[i].Kind; k == grid.KindConf || grid.Kinds[i].Configured() && len(conf.Attributes(k)) > 0 {
			out = append(out, ObjectsOf(nil, k, nil))
		}
	}
	return out
}

// Shown is a configuration object with what qconf shows of it beside its attributes.
type Shown struct {
	grid.Object
	Host string     // of a queue instance: the object is its cluster queue with the values that hold there
	Load *grid.Load // of an execution host: what it reports; nil: nothing
}

// ObjectsOf returns the document of objects of a kind. Values have the types that v has for the attributes of the
// complex.
func ObjectsOf(v *view.View, kind grid.Kind, list []Shown) Objects {
	rows := objects{element: objectType(kind)}
	for _, o := range list {
		rows.list = append(rows.list, objectOf(v, rows.element, o))
	}
	return Objects{kind, rows}
}

// objects are rows whose type follows from the kind.
type objects struct {
	element reflect.Type
	list    []any
}

// Element returns the type of the rows.
func (o objects) Element() reflect.Type { return o.element }

func (o objects) each(visit func(any) error) error {
	for _, row := range o.list {
		if err := visit(row); err != nil {
			return err
		}
	}
	return nil
}

// queueParts, hostParts and schedulerParts are the members that are no attributes.
type (
	queueParts struct {
		Host string `json:"hostname,omitzero" jsonschema:"of a queue instance: the host for which the values hold; absent: a cluster queue"`
	}
	hostParts struct {
		Load       map[string]Value `json:"load_values" jsonschema:"what the host reports: number (bytes, seconds or units), boolean or text by the type of the attribute"`
		Processors uint32           `json:"processors" jsonschema:"0: not reported"`
	}
	schedulerParts struct {
		Sections []AlgorithmParameters `json:"algorithm_parameters" jsonschema:"parameters of the algorithms"`
	}
)

// AlgorithmParameters are parameters of a scheduling algorithm.
type AlgorithmParameters struct {
	Algorithm  string     `json:"algorithm"`
	Parameters []Variable `json:"parameters" jsonschema:"a parameter that is a table once for each of its rows"`
}

// objectType returns the type of a row: of most kinds a struct made from the conf tags of the kind's own.
func objectType(kind grid.Kind) reflect.Type {
	switch kind {
	case grid.KindCentry:
		return reflect.TypeFor[ComplexAttribute]()
	case grid.KindConf:
		return reflect.TypeFor[Configuration]()
	case grid.KindRQS:
		return reflect.TypeFor[QuotaSet]()
	}
	fields := attributeFields(kind)
	switch kind {
	case grid.KindCQueue:
		fields = append(fields, reflect.VisibleFields(reflect.TypeFor[queueParts]())...)
	case grid.KindExecHost:
		fields = append(fields, reflect.VisibleFields(reflect.TypeFor[hostParts]())...)
	}
	return reflect.StructOf(fields)
}

// attributeFields returns the struct fields of the attributes of a kind.
func attributeFields(kind grid.Kind) (fields []reflect.StructField) {
	t := reflect.TypeOf(grid.SpecOf(kind).New()).Elem()
	for _, f := range conf.Fields(t) {
		of := t.Field(f.Index)
		to, text := memberType(of.Type), description(of.Type)
		if f.Factors {
			to, text = reflect.TypeFor[map[string]Amount](), "factor by name"
		}
		fields = append(fields, member(of.Name, f.Name, to, text))
	}
	if kind == grid.KindSchedConf {
		fields = append(fields, reflect.VisibleFields(reflect.TypeFor[schedulerParts]())...)
	}
	return fields
}

// Attributes returns what makes the attributes of objects of a kind: values with the types that qconf -fmt json gives
// them, and nothing beside them. Those of the configuration are its parameters.
func Attributes(v *view.View, kind grid.Kind) func(grid.Object) any {
	switch kind {
	case grid.KindConf:
		return func(o grid.Object) any { return configurationOf(o.(*grid.Conf)).Parameters }
	case grid.KindCentry, grid.KindRQS:
		return func(o grid.Object) any { return objectOf(v, nil, Shown{Object: o}) }
	}
	t := reflect.StructOf(attributeFields(kind))
	return func(o grid.Object) any {
		to := attributesOf(v, t, o)
		if c, is := o.(*grid.SchedConf); is {
			to.FieldByName("Sections").Set(reflect.ValueOf(sectionsOf(c)))
		}
		return to.Interface()
	}
}

// member returns the struct field of a member. A time that is not set is absent.
func member(field, name string, t reflect.Type, description string) reflect.StructField {
	if t == reflect.TypeFor[time.Time]() {
		name += ",omitzero"
	}
	tag := `json:"` + name + `"`
	if description != "" {
		tag += ` jsonschema:"` + description + `"`
	}
	return reflect.StructField{Name: field, Type: t, Tag: reflect.StructTag(tag)}
}

// memberType returns the type of the member for a field of an object.
func memberType(t reflect.Type) reflect.Type {
	switch t {
	case reflect.TypeFor[grid.Names]():
		return reflect.TypeFor[[]string]()
	case reflect.TypeFor[grid.Values]():
		return reflect.TypeFor[map[string]Value]()
	case reflect.TypeFor[grid.TimeText](), reflect.TypeFor[grid.MemText]():
		return reflect.TypeFor[Amount]()
	case reflect.TypeFor[grid.Time]():
		return reflect.TypeFor[time.Time]()
	}
	if t.Kind() == reflect.Struct { // grid.PerHost
		value, _ := t.FieldByName("Value")
		of, text := memberType(value.Type), description(value.Type)
		return reflect.StructOf([]reflect.StructField{
			member("Value", "value", of, text),
			member("At", "at,omitempty", reflect.MapOf(reflect.TypeFor[string](), of),
				"by host or @group: the value there in place of the other"),
		})
	}
	return t
}

// description states the unit of a field.
func description(t reflect.Type) string {
	switch t {
	case reflect.TypeFor[grid.TimeText]():
		return "seconds; the text infinity is unlimited"
	case reflect.TypeFor[grid.MemText]():
		return "bytes; the text infinity is unlimited"
	case reflect.TypeFor[grid.Values]():
		return "value by name: number (bytes, seconds or units), boolean or text by the type of the attribute; the text infinity is unlimited"
	}
	return ""
}

func objectOf(v *view.View, t reflect.Type, o Shown) any {
	switch of := o.Object.(type) {
	case *grid.Centry:
		return complexAttributeOf(of)
	case *grid.Conf:
		return configurationOf(of)
	case *grid.RQS:
		return quotaSetOf(v, of)
	}
	to := attributesOf(v, t, o.Object)
	part := func(name string, value any) { to.FieldByName(name).Set(reflect.ValueOf(value)) }
	switch of := o.Object.(type) {
	case *grid.CQueue:
		part("Host", o.Host)
	case *grid.ExecHost:
		part("Load", map[string]Value{})
		if o.Load != nil {
			part("Load", valuesOf(v, o.Load.Values))
			part("Processors", o.Load.Processors)
		}
	case *grid.SchedConf:
		part("Sections", sectionsOf(of))
	}
	return to.Interface()
}

// attributesOf returns a struct of a type with the attributes of an object.
func attributesOf(v *view.View, t reflect.Type, o grid.Object) reflect.Value {
	to, from := reflect.New(t).Elem(), reflect.ValueOf(o).Elem()
	for i, f := range conf.Fields(from.Type()) {
		set(v, f, to.Field(i), from.Field(f.Index))
	}
	return to
}

// set sets a member from the field of an object.
func set(v *view.View, f conf.Field, to, from reflect.Value) {
	switch x := from.Interface().(type) {
	case grid.Names:
		to.Set(reflect.ValueOf(list([]string(x))))
	case grid.Values:
		if f.Factors {
			to.Set(reflect.ValueOf(factorsOf(x)))
			return
		}
		to.Set(reflect.ValueOf(valuesOf(v, x)))
	case grid.TimeText:
		to.Set(reflect.ValueOf(amountOf("TIME", string(x))))
	case grid.MemText:
		to.Set(reflect.ValueOf(amountOf("MEMORY", string(x))))
	case grid.Time:
		to.Set(reflect.ValueOf(timeOf(x)))
	default:
		if to.Kind() != reflect.Struct {
			to.Set(from)
			return
		}
		set(v, f, to.FieldByName("Value"), from.FieldByName("Value"))
		of, at := to.FieldByName("At"), from.FieldByName("At")
		for i := range at.Len() {
			if i == 0 {
				of.Set(reflect.MakeMap(of.Type()))
			}
			value := reflect.New(of.Type().Elem()).Elem()
			set(v, f, value, at.Index(i).FieldByName("Value"))
			of.SetMapIndex(at.Index(i).FieldByName("Target"), value)
		}
	}
}

// valuesOf returns named values by the types of the attributes of the complex. Those that name none are numbers where
// their text is one.
func valuesOf(v *view.View, values grid.Values) map[string]Value {
	out := map[string]Value{}
	for _, e := range values {
		if v.Attribute(e.Name) == nil {
			out[e.Name] = amountOf("DOUBLE", e.Text)
		} else {
			out[e.Name] = valueOf(v.Requested(grid.Request{Name: e.Name, Value: e.Text}))
		}
	}
	return out
}

func factorsOf(values grid.Values) map[string]Amount {
	out := map[string]Amount{}
	for _, e := range values {
		out[e.Name] = amountOf("DOUBLE", e.Text)
	}
	return out
}

// Amount is a number of bytes, seconds or units, or a text: infinity is unlimited, others are no amount.
type Amount any

// amountOf returns the amount that a text stands for, by its type.
func amountOf(t grid.CentryType, text string) Value {
	n, ok := t.Parse(text)
	if !ok {
		return text
	}
	return valueOf(view.Resource{Type: t, Number: n, Text: text})
}

func sectionsOf(c *grid.SchedConf) []AlgorithmParameters {
	out := []AlgorithmParameters{}
	for _, s := range c.Sections {
		a := AlgorithmParameters{Algorithm: s.Algorithm, Parameters: []Variable{}}
		for _, p := range s.Params {
			a.Parameters = append(a.Parameters, Variable{p.Name, p.Text})
		}
		out = append(out, a)
	}
	return out
}
