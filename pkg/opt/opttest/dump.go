package opttest

import (
	"fmt"
	"io"
	"reflect"
)

// dump prints what is not zero in a value, a line each: "  Job.Name: sleep".
func dump(w io.Writer, path string, v reflect.Value) {
	if !v.IsValid() || v.IsZero() {
		return
	}
	if s, ok := v.Interface().(fmt.Stringer); ok && v.Kind() != reflect.Pointer {
		fmt.Fprintf(w, "  %s: %s\n", path, s)
		return
	}
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		dump(w, path, v.Elem())
	case reflect.Struct:
		if v.NumField() == 2 && v.Field(0).Kind() == reflect.String && v.Field(1).Kind() == reflect.String {
			fmt.Fprintf(w, "  %s: %s=%s\n", path, v.Field(0), v.Field(1))
			return
		}
		for i := range v.NumField() {
			name := v.Type().Field(i).Name
			switch {
			case v.Type().Field(i).Anonymous:
				name = path
			case path != "":
				name = path + "." + name
			}
			dump(w, name, v.Field(i))
		}
	case reflect.Slice:
		switch v.Type().Elem().Kind() {
		case reflect.Uint8:
			fmt.Fprintf(w, "  %s: %q\n", path, v.Bytes())
			return
		case reflect.String:
			fmt.Fprintf(w, "  %s: %q\n", path, v.Interface())
			return
		}
		for i := range v.Len() {
			dump(w, fmt.Sprintf("%s[%d]", path, i), v.Index(i))
		}
	default:
		fmt.Fprintf(w, "  %s: %v\n", path, v.Interface())
	}
}
