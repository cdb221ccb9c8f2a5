package switches

import "fmt"

// Format is how a listing is printed, by -fmt and -xml. The zero value is plain text.
type Format struct {
	name  string // plain, xml, json; "": not chosen
	fixed bool   // chosen in the file or command line that is being read
}

// XML reports whether -xml was given.
func (f Format) XML() bool { return f.name == "xml" }

// JSON reports whether -fmt json was given.
func (f Format) JSON() bool { return f.name == "json" }

// Begin lets a further file or the command line choose another format.
func (f *Format) Begin() { f.fixed = false }

func (f *Format) choose(name string) error {
	if f.fixed && f.name != name {
		return formatError("-xml and -fmt plain|json exclude each other, and a listing has one format: %s or %s", f.name,
			name)
	}
	f.name, f.fixed = name, true
	return nil
}

// formatError makes an error that all commands print alike, whatever they begin others with.
func formatError(format string, args ...any) error {
	return &Error{Text: fmt.Sprintf("error: "+format, args...), Bare: true}
}

// Fmt returns the row of -fmt; of finds where a command stores the format.
func Fmt[T any](of func(*T) *Format) Switch[T] {
	return Switch[T]{Name: "fmt", format: of, Args: "plain|json",
		Help: "display the information as text or in JSON format", Take: One,
		Set: func(t *T, words []string) error {
			if words[0] != "plain" && words[0] != "json" {
				return formatError("unknown format %q for -fmt: plain and json are supported", words[0])
			}
			return of(t).choose(words[0])
		}}
}

// Chosen returns the format that was read into t: plain text for a command without -fmt.
func (c *Command[T]) Chosen(t *T) Format {
	if s := c.Lookup("-fmt"); s != nil {
		return *s.format(t)
	}
	return Format{}
}

// Requested returns the format that words request which cannot be read, wherever -fmt is among them.
func (c *Command[T]) Requested(words []string) (f Format) {
	if c.Lookup("-fmt") == nil {
		return f
	}
	for i, word := range words[:max(len(words)-1, 0)] {
		if word == "-fmt" {
			f.name = words[i+1]
		}
	}
	return f
}

// XML returns the row of -xml; of finds where a command stores the format.
func XML[T any](of func(*T) *Format) Switch[T] {
	return Switch[T]{Name: "xml", Help: "display the information in XML format",
		Set: func(t *T, _ []string) error { return of(t).choose("xml") }}
}
