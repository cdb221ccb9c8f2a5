package conf

import (
	"reflect"
	"strconv"
	"strings"

	"github.com/quill-grid/quill/pkg/grid"
)

// formatValue prints an attribute's value on one line.
func (a attribute) formatValue() string {
	if at := a.exceptionList(); at.IsValid() {
		text := a.formatOne(a.value.FieldByName("Value"))
		for i := range at.Len() {
			e := at.Index(i)
			text += ",[" + e.FieldByName("Target").String() + "=" + a.formatOne(e.FieldByName("Value")) + "]"
		}
		return text
	}
	return a.formatOne(a.value)
}

// exceptionList is the At list of a per-host attribute, else invalid.
func (a attribute) exceptionList() reflect.Value {
	if a.value.Kind() == reflect.Struct {
		return a.value.FieldByName("At")
	}
	return reflect.Value{}
}

func (a attribute) formatOne(v reflect.Value) string {
	switch x := v.Interface().(type) {
	case bool:
		return strings.ToUpper(strconv.FormatBool(x))
	case float64:
		return strconv.FormatFloat(x, 'f', 6, 64)
	case grid.Time:
		return strconv.FormatInt(x.Unix(), 10)
	case grid.Names:
		if len(x) == 0 {
			return a.empty
		}
		return strings.Join(x, a.sep)
	case grid.Values:
		if len(x) == 0 {
			return a.empty
		}
		words := make([]string, len(x))
		for i, e := range x {
			words[i] = e.Name
			if e.Text != "" {
				words[i] += "=" + e.Text
			}
		}
		return strings.Join(words, ",")
	}
	switch v.Kind() {
	case reflect.Uint32:
		return strconv.FormatUint(v.Uint(), 10)
	case reflect.Int32:
		return strconv.FormatInt(v.Int(), 10)
	}
	if v.String() == "" {
		return a.empty
	}
	return v.String()
}

// parseValue reads the whole text of a value, with its exceptions for hosts.
func (a attribute) parseValue(text string) error {
	at := a.exceptionList()
	if !at.IsValid() {
		return a.parseOne(text, a.value)
	}
	text, targets, err := splitExceptions(text)
	if err != nil {
		return err
	}
	if text == "" {
		return ObjectError{refusef("%q has no default value", a.Name)}
	}
	if err := a.parseOne(text, a.value.FieldByName("Value")); err != nil {
		return err
	}
	at.SetZero()
	for _, t := range targets {
		if a.exceptionAt(t.Name).IsValid() {
			return refusef("Value for %q is multiply defined", t.Name)
		}
		if err := a.setAt(t.Name, t.Text); err != nil {
			return err
		}
	}
	return nil
}

// setAt sets the exception for a host or host group; the list is kept in the
// order of names.
func (a attribute) setAt(target, text string) error {
	at := a.exceptionList()
	e := reflect.New(at.Type().Elem()).Elem()
	e.FieldByName("Target").SetString(target)
	if err := a.parseOne(text, e.FieldByName("Value")); err != nil {
		return err
	}
	list := reflect.MakeSlice(at.Type(), 0, at.Len()+1)
	placed := false
	for i := range at.Len() {
		name := at.Index(i).FieldByName("Target").String()
		if !placed && name >= target {
			list, placed = reflect.Append(list, e), true
		}
		if name != target {
			list = reflect.Append(list, at.Index(i))
		}
	}
	if !placed {
		list = reflect.Append(list, e)
	}
	at.Set(list)
	return nil
}

// splitExceptions splits "1,[node1=4],[@big=8]" into the value for every host
// ("" when there is none) and the exceptions.
func splitExceptions(text string) (value string, at grid.Values, err error) {
	i := strings.Index(text, "[")
	for i > 0 && !strings.HasSuffix(strings.TrimRight(text[:i], " \t"), ",") {
		// A bracket inside of a value, or a comma was forgotten.
		if text[i-1] == ' ' && strings.HasSuffix(text, "]") && strings.Contains(text[i:], "=") {
			return "", nil, refusef("All list elements must be separated by commas: %q", text)
		}
		next := strings.Index(text[i+1:], "[")
		if next < 0 {
			i = -1
			break
		}
		i += 1 + next
	}
	if i < 0 {
		return text, nil, nil
	}
	value = strings.TrimSuffix(strings.TrimRight(text[:i], " \t"), ",")
	for rest := strings.TrimSpace(text[i:]); rest != ""; {
		end := grid.ClosingBracket(rest)
		if end < 0 {
			return "", nil, refusef("Closing bracket expected in attribute value %q", text)
		}
		target, v, ok := strings.Cut(rest[1:end], "=")
		if !ok {
			return "", nil, refusef("'=' has to separate host or group from value")
		}
		at = append(at, grid.Value{Name: strings.TrimSpace(target), Text: strings.TrimSpace(v)})
		rest = strings.TrimSpace(rest[end+1:])
		if rest == "" {
			break
		}
		if rest[0] != ',' {
			return "", nil, refusef("All list elements must be separated by commas: %q", text)
		}
		rest = strings.TrimSpace(rest[1:])
	}
	return strings.TrimSpace(value), at, nil
}

// parseOne reads one value into v.
func (a attribute) parseOne(text string, v reflect.Value) error {
	text = strings.TrimSpace(text)
	switch v.Interface().(type) {
	case bool:
		n, ok := grid.CentryType("BOOL").Parse(text)
		if !ok {
			return a.invalidValue(text)
		}
		v.SetBool(n != 0)
		return nil
	case float64:
		n, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return refusef("error parsing double value from string %q for attribute %q", text, a.Name)
		}
		v.SetFloat(n)
		return nil
	case grid.Time:
		n, err := strconv.ParseUint(text, 10, 40)
		if err != nil {
			return a.noNumber(text)
		}
		v.SetInt(int64(n) * 1000)
		return nil
	case grid.TimeText:
		if _, ok := grid.ParseTimeSpan(text); !ok {
			return a.invalidValue(text)
		}
		v.SetString(text)
		return nil
	case grid.MemText:
		if _, ok := grid.ParseMemory(text); !ok {
			return a.invalidValue(text)
		}
		v.SetString(text)
		return nil
	case grid.Names:
		return a.parseNames(text, v)
	case grid.Values:
		list, err := a.parseValues(text)
		if err == nil {
			v.Set(reflect.ValueOf(list))
		}
		return err
	}
	switch v.Kind() {
	case reflect.Uint32:
		n, err := strconv.ParseUint(text, 10, 32)
		if err != nil {
			return a.noNumber(text)
		}
		v.SetUint(n)
	case reflect.Int32:
		n, err := strconv.ParseInt(text, 10, 32)
		if err != nil || n < 0 && !a.signed {
			return a.noNumber(text)
		}
		v.SetInt(n)
	default:
		if text == a.empty || isNone(text) && a.empty != "none" {
			text = ""
		}
		v.SetString(text)
	}
	return nil
}

func (a attribute) invalidValue(text string) error {
	return refusef("error parsing value %q for attribute %q", text, a.Name)
}

func (a attribute) noNumber(text string) error {
	if _, err := strconv.ParseInt(text, 10, 64); err == nil {
		return refusef("%q is not an u_long32 value for attribute %q", text, a.Name)
	}
	return refusef("error parsing unsigned long value from string %q for attribute %q", text, a.Name)
}

func isNone(text string) bool { return strings.EqualFold(text, "NONE") }

// parseNames reads a list; blanks and commas both separate, except within brackets:
// slots=2(low.q:1:sr,other.q:2).
func (a attribute) parseNames(text string, v reflect.Value) error {
	var list grid.Names
	if !isNone(text) {
		list = splitList(text)
	}
	known := func(noun string, words ...string) error {
		for _, n := range list {
			if !grid.Names(words).Has(n) {
				return refusef("error parsing %s from string %q", noun, n)
			}
		}
		return nil
	}
	var err error
	if a.Name == "qtype" {
		for i := range list {
			list[i] = strings.ToUpper(list[i])
		}
		err = known("queue type", "BATCH", "INTERACTIVE")
	}
	if err == nil {
		v.Set(reflect.ValueOf(list))
	}
	return err
}

// splitList splits at blanks and commas outside of brackets.
func splitList(text string) (list []string) {
	depth, start := 0, -1
	for i := 0; i <= len(text); i++ {
		c := byte(' ')
		if i < len(text) {
			c = text[i]
		}
		switch {
		case c == '(' || c == '{':
			depth++
		case (c == ')' || c == '}') && depth > 0:
			depth--
		case (c == ' ' || c == '\t' || c == ',') && (depth == 0 || i == len(text)):
			if start >= 0 {
				list = append(list, text[start:i])
			}
			start = -1
			continue
		}
		if start < 0 {
			start = i
		}
	}
	return list
}

// parseValues reads name=value elements.
func (a attribute) parseValues(text string) (list grid.Values, err error) {
	if isNone(text) {
		return nil, nil
	}
	for _, e := range splitList(text) {
		name, v, ok := strings.Cut(e, "=")
		if !ok || name == "" || v == "" {
			return nil, a.invalidValue(e)
		}
		list = append(list, grid.Value{Name: name, Text: v})
	}
	return list, nil
}
