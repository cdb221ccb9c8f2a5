package conf

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/quill-grid/quill/pkg/grid"
)

// SetJSON returns the object with one attribute set from a JSON value: a boolean, a number (of bytes, seconds or
// units), a list of names, values by name, a time of RFC 3339, or for each of them the text that Set takes. The value
// of an attribute with exceptions for hosts may be an object with "value" and "at", the values by host or @group.
// Objects are merged into what there is, by name: null removes a member (RFC 7396); any other value is the whole. The
// rules of a resource quota set and the parameters of algorithms are lists as qconf -fmt json prints them.
func SetJSON(o grid.Object, attr string, value []byte) (grid.Object, error) {
	var v any
	in := json.NewDecoder(bytes.NewReader(value))
	in.UseNumber()
	if err := in.Decode(&v); err != nil {
		return nil, refusef("value of attribute %q: %s", attr, err)
	}
	switch of := o.(type) {
	case *grid.Conf:
		text, err := parameterText(attr, v)
		if err != nil {
			return nil, err
		}
		return Set(o, attr, text)
	case *grid.RQS:
		if attr == "limit" {
			return withLimits(of, v)
		}
	case *grid.SchedConf:
		if attr == "algorithm_parameters" {
			return withSections(of, value)
		}
		if strings.Contains(attr, ".") {
			return withDotted(of, attr, v)
		}
	}
	return changedCopy(o, attr, func(a attribute) error { return a.setJSON(v) })
}

// setJSON reads the JSON value of an attribute.
func (a attribute) setJSON(v any) error {
	at := a.exceptionList()
	if text, is := v.(string); is && a.value.Type() != reflect.TypeFor[grid.Time]() { // with its exceptions
		if err := a.oneLine(text); err != nil {
			return err
		}
		if text == "" {
			text = a.empty
		}
		return a.parseValue(text)
	}
	if !at.IsValid() {
		return a.takeOne(v, a.value)
	}
	general := a.value.FieldByName("Value")
	parts, is := v.(map[string]any)
	if !is {
		at.SetZero()
		return a.takeOne(v, general)
	}
	for _, name := range slices.Sorted(maps.Keys(parts)) {
		if name != "value" && name != "at" {
			return refusef("attribute %q has the members \"value\" and \"at\", not %q", a.Name, name)
		}
	}
	if parts["value"] != nil {
		if err := a.takeOne(parts["value"], general); err != nil {
			return err
		}
	}
	targets, is := parts["at"].(map[string]any)
	if !is && parts["at"] != nil {
		return refusef("member \"at\" of attribute %q is no object with values by host or @group", a.Name)
	}
	for _, target := range slices.Sorted(maps.Keys(targets)) {
		if target == "" || strings.ContainsAny(target, "[]=, \t\r\n") {
			return refusef("%q in member \"at\" of attribute %q is no host or @group", target, a.Name)
		}
		if targets[target] == nil {
			a.removeAt(target)
			continue
		}
		now := reflect.New(general.Type()).Elem()
		if v := a.exceptionAt(target); v.IsValid() {
			now = v
		}
		text, err := a.textOf(targets[target], now)
		if err == nil {
			err = a.setAt(target, text)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", target, err)
		}
	}
	return nil
}

// takeOne reads the JSON of one value into v.
func (a attribute) takeOne(of any, v reflect.Value) error {
	text, err := a.textOf(of, v)
	if err != nil {
		return err
	}
	return a.parseOne(text, v)
}

// textOf returns the text of one JSON value for a field that has a value now.
func (a attribute) textOf(v any, now reflect.Value) (string, error) {
	t := now.Type()
	names, values := t == reflect.TypeFor[grid.Names](), t == reflect.TypeFor[grid.Values]()
	switch x := v.(type) {
	case string:
		if at, err := time.Parse(time.RFC3339, x); err == nil && t == reflect.TypeFor[grid.Time]() {
			return strconv.FormatInt(at.Unix(), 10), nil
		}
		if x == "" {
			return a.empty, nil
		}
		if grid.ClosingBracket("["+x+"]") != len(x)+1 || strings.HasPrefix(x, "[") || strings.Contains(x, ",[") {
			return "", refusef("value %q of attribute %q has brackets: values of hosts are in the member \"at\"", x, a.Name)
		}
		return x, a.oneLine(x)
	case bool:
		if t.Kind() == reflect.Bool || a.Name == "default" { // that of an attribute of the complex has its type
			return strings.ToUpper(strconv.FormatBool(x)), nil
		}
	case json.Number:
		if !names && !values && t.Kind() != reflect.Bool {
			return numberText(x), nil
		}
	case []any:
		if names {
			return a.listText(x)
		}
	case map[string]any:
		if values {
			return a.valuesText(x, now.Interface().(grid.Values))
		}
	}
	return "", refusef("attribute %q is %s, not %s", a.Name, expectedJSON(t), foundJSON(v))
}

// oneLine refuses texts that would be more than a line of the object's text.
func (a attribute) oneLine(text string) error {
	if strings.ContainsAny(text, "\r\n\x00") {
		return refusef("value of attribute %q is more than one line", a.Name)
	}
	return nil
}

// listText returns the text of a list of names.
func (a attribute) listText(list []any) (string, error) {
	words := make([]string, len(list))
	for i, e := range list {
		word, is := e.(string)
		if parts := splitList(word); !is || len(parts) != 1 || parts[0] != word {
			return "", refusef("element %d of attribute %q is no name", i+1, a.Name)
		}
		words[i] = word
	}
	if len(words) == 0 {
		return a.empty, nil
	}
	return strings.Join(words, " "), nil
}

// valuesText returns the text of values by name: those that there are, with others in their place and beside them,
// without those that are null.
func (a attribute) valuesText(values map[string]any, now grid.Values) (string, error) {
	var words []string
	for _, v := range now {
		if _, changed := values[v.Name]; !changed {
			words = append(words, v.Name+"="+v.Text)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		if values[name] == nil {
			continue
		}
		text, is := scalarText(values[name])
		word := name + "=" + text
		if parts := splitList(word); !is || name == "" || text == "" || strings.Contains(name, "=") || len(parts) != 1 ||
			parts[0] != word {
			return "",
				refusef("value of %q in attribute %q is no number, boolean or text without blanks and commas", name, a.Name)
		}
		words = append(words, word)
	}
	if len(words) == 0 {
		return a.empty, nil
	}
	return strings.Join(words, ","), nil
}

// scalarText returns the text of a number, boolean or string.
func scalarText(v any) (string, bool) {
	switch x := v.(type) {
	case string:
		return x, true
	case bool:
		return strings.ToUpper(strconv.FormatBool(x)), true
	case json.Number:
		return numberText(x), true
	}
	return "", false
}

// numberText returns a number without exponent.
func numberText(n json.Number) string {
	text := n.String()
	if f, err := n.Float64(); err == nil && strings.ContainsAny(text, "eE") && math.Abs(f) < 1e18 {
		return strconv.FormatFloat(f, 'f', -1, 64)
	}
	return text
}

// expectedJSON names what the JSON of a field is.
func expectedJSON(t reflect.Type) string {
	switch t {
	case reflect.TypeFor[grid.Names]():
		return "a list of names"
	case reflect.TypeFor[grid.Values]():
		return "an object with values by name"
	case reflect.TypeFor[grid.Time]():
		return "a time"
	case reflect.TypeFor[grid.TimeText]():
		return "a number of seconds"
	case reflect.TypeFor[grid.MemText]():
		return "a number of bytes"
	}
	switch t.Kind() {
	case reflect.Bool:
		return "a boolean"
	case reflect.Int32, reflect.Uint32, reflect.Float64:
		return "a number"
	}
	return "a text"
}

// foundJSON names what a JSON value is.
func foundJSON(v any) string {
	switch v.(type) {
	case nil:
		return "null"
	case string:
		return "a text"
	case bool:
		return "a boolean"
	case json.Number:
		return "a number"
	case []any:
		return "a list"
	}
	return "an object"
}

// parameterText returns the text of a parameter of sge_conf(5).
func parameterText(name string, v any) (string, error) {
	if list, is := v.([]any); is {
		text, err := attribute{Field: Field{Name: name, empty: "none"}}.listText(list)
		return strings.ReplaceAll(text, " ", ","), err
	}
	text, is := scalarText(v)
	switch {
	case !is:
		return "", refusef("attribute %q is a number, a boolean, a text or a list of names, not %s", name, foundJSON(v))
	case strings.ContainsAny(text, "\r\n\x00"):
		return "", refusef("value of attribute %q is more than one line", name)
	case text == "":
		return "none", nil
	}
	if _, is := v.(bool); is {
		text = strings.ToLower(text)
	}
	return text, nil
}

// withLimits returns a resource quota set with other rules: texts, or objects with the member "text".
func withLimits(set *grid.RQS, v any) (grid.Object, error) {
	list, is := v.([]any)
	if !is {
		return nil, refusef("attribute \"limit\" is a list of rules, not %s", foundJSON(v))
	}
	c := *set
	c.Limits = nil
	for i, e := range list {
		if row, is := e.(map[string]any); is {
			e = row["text"]
		}
		text, is := e.(string)
		if !is {
			return nil, refusef("rule %d has no text", i+1)
		}
		rule, err := grid.ParseQuotaRule(text)
		if err != nil {
			return nil, refusef("rule %d: %s", i+1, err)
		}
		c.Limits = append(c.Limits, rule.String())
	}
	return &c, nil
}

// withSections returns a scheduler configuration with other parameters of its algorithms: those that are named, each
// with all its rows. A parameter whose value is null has its default again, and so have all of an algorithm whose
// parameters are null.
func withSections(c *grid.SchedConf, value []byte) (grid.Object, error) {
	var sections []struct {
		Algorithm  string `json:"algorithm"`
		Parameters *[]struct {
			Name  string  `json:"name"`
			Value *string `json:"value"`
		} `json:"parameters"`
	}
	in := json.NewDecoder(bytes.NewReader(value))
	in.DisallowUnknownFields()
	if err := in.Decode(&sections); err != nil {
		return nil, refusef("attribute \"algorithm_parameters\" is no list of objects with algorithm and parameters, each " +
			"with name and value; \"ALGORITHM.NAME\" is an attribute of its own")
	}
	seen := map[string]bool{}
	for _, s := range sections {
		if s.Algorithm == "" || seen[s.Algorithm] {
			return nil, refusef("algorithm %q has no name or appears more than once", s.Algorithm)
		}
		seen[s.Algorithm] = true
		if s.Parameters == nil {
			c = WithRows(c, s.Algorithm, "", nil)
			continue
		}
		var names []string
		rows := map[string][]string{}
		for _, p := range *s.Parameters {
			if _, again := rows[p.Name]; !again {
				names = append(names, p.Name)
				rows[p.Name] = nil
			}
			if p.Value != nil {
				rows[p.Name] = append(rows[p.Name], *p.Value)
			}
		}
		for _, name := range names {
			if err := checkRows(c, s.Algorithm, name, rows[name]); err != nil {
				return nil, err
			}
			c = WithRows(c, s.Algorithm, name, rows[name])
		}
	}
	return c, nil
}

// withDotted returns a scheduler configuration with another value of one parameter of an algorithm: a text, of a table
// the list of its rows, or null, its default.
func withDotted(c *grid.SchedConf, attr string, v any) (grid.Object, error) {
	algorithm, name, _ := strings.Cut(attr, ".")
	var rows []string
	list, isList := v.([]any)
	if !isList && v != nil {
		list = []any{v}
	}
	for _, e := range list {
		row, ok := scalarText(e)
		if !ok {
			return nil, refusef("attribute %q is a text, a list of texts or null, not %s", attr, foundJSON(v))
		}
		rows = append(rows, row)
	}
	if isList && len(rows) == 0 {
		rows = []string{"none"}
	}
	if err := checkRows(c, algorithm, name, rows); err != nil {
		return nil, err
	}
	return WithRows(c, algorithm, name, rows), nil
}

// checkRows refuses what is no name or no rows of a parameter. The algorithm refuses a parameter that it does not have,
// unless it has no rows.
func checkRows(c *grid.SchedConf, algorithm, name string, rows []string) error {
	if name == "" || strings.ContainsAny(name+strings.Join(rows, ""), "\r\n\x00") {
		return refusef("parameter %q of algorithm %q has no name, or is more than one line", name, algorithm)
	}
	section := c.Section(algorithm)
	has := slices.ContainsFunc(section, func(p grid.Param) bool { return p.Name == name })
	if len(rows) == 0 && len(section) > 0 && !has {
		var names []string
		for _, p := range section {
			names = append(names, p.Name)
		}
		known := strings.Join(slices.Compact(names), ", ")
		return refusef("algorithm %q has no parameter %q: it is none of %s", algorithm, name, known)
	}
	return nil
}
