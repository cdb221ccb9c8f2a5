// Package conf is the attribute/value text of configuration objects: what
// qconf prints with -sX, hands to an editor and reads from files.
//
//	object ──Format──▶ text ──editor, file──▶ Parse ──▶ object
//
// Everything follows from the `conf` tags of the structs in pkg/grid: the
// attribute's name, then how it is printed:
//
//	conf:"slots"                one value
//	conf:"prolog,NONE"          printed as NONE when empty (likewise UNDEFINED, none)
//	conf:"pe_list,space"        a list, printed with blanks between
//	conf:"entries,comma"        a list, printed with commas between
//	conf:"qsort_args,optional"  may be missing in a file
//	conf:"a,factors"            named values that are factors, in JSON numbers
//	conf:"-"                    not part of the text
//
// Field types give the syntax of values: TimeText, MemText, bool, numbers,
// Names, Values (name=text lists), and PerHost of each
// ("1,[node1=4],[@big=8]").
//
// attribute.go finds the attributes of an object, format.go and parse.go are the
// text and the way back, value.go the syntax of one value, change.go what qconf's
// -aattr, -mattr, -dattr and -rattr do to one. Texts that are not lines of
// attributes alone have a file each: centry.go (the complex), rqs.go and rule.go
// (resource quota sets), sharetree.go, conf.go (free parameters), section.go (the
// parameters of algorithms).
//
// The package must not know where text comes from or goes to, and no rule
// that needs a second object (does the project exist?): qmaster/core checks
// those.
//
// To add a kind: give its struct `conf` tags; nothing here changes unless its
// text is not attribute/value lines.
package conf
