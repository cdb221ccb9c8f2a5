package switches

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
		return Errorf("error: -xml and -fmt plain|json exclude each other, and a listing has one format: %s or %s", f.name, name)
	}
	f.name, f.fixed = name, true
	return nil
}

// Fmt returns the row of -fmt; of finds where a command stores the format.
func Fmt[T any](of func(*T) *Format) Switch[T] {
	return Switch[T]{Name: "fmt", Args: "plain|json", Help: "display the information as text or in JSON format", Take: One,
		Set: func(t *T, words []string) error {
			if words[0] != "plain" && words[0] != "json" {
				return Errorf("error: unknown format %q for -fmt: plain and json are supported", words[0])
			}
			return of(t).choose(words[0])
		}}
}

// XML returns the row of -xml; of finds where a command stores the format.
func XML[T any](of func(*T) *Format) Switch[T] {
	return Switch[T]{Name: "xml", Help: "display the information in XML format",
		Set: func(t *T, _ []string) error { return of(t).choose("xml") }}
}
