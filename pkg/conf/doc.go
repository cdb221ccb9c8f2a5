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
//	conf:"-"                    not part of the text
//
// Field types give the syntax of values: TimeText, MemText, bool, numbers,
// Names, Values (name=text lists), and PerHost of each
// ("1,[node1=4],[@big=8]").
//
// The package must not know where text comes from or goes to, and no rule
// that needs a second object (does the project exist?): qmaster/core checks
// those.
//
// To add a kind: give its struct `conf` tags; nothing here changes unless its
// text is not attribute/value lines (resource quota sets, share tree, the
// complex table: a file each).
package conf
