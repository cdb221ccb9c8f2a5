package grid

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Unprintable stands for a character that terminals would act on.
const Unprintable = '?'

// Printable returns the text with every control character, and every byte that
// is no UTF-8, replaced by a question mark: listings and mails show texts of
// users, and what a terminal acts on is not theirs to send. Line ends and tabs
// stay.
func Printable(text string) string {
	if PrintableASCII(text) {
		return text
	}
	return strings.Map(printable, strings.ToValidUTF8(text, string(Unprintable)))
}

// PrintableASCII reports whether a text has only what terminals print, the quick
// way.
func PrintableASCII[T string | []byte](text T) bool {
	for i := range len(text) {
		if c := text[i]; (c < ' ' || c > '~') && c != '\n' && c != '\t' {
			return false
		}
	}
	return true
}

func printable(r rune) rune {
	if r == '\n' || r == '\t' || unicode.IsPrint(r) {
		return r
	}
	return Unprintable
}

// OneLine returns the text as one line that a terminal prints: Printable, with line ends and tabs written as \n and \t.
func OneLine(text string) string {
	if !HasControl(text) && PrintableASCII(text) {
		return text
	}
	return inOneLine.Replace(Printable(text))
}

var inOneLine = strings.NewReplacer("\n", `\n`, "\t", `\t`)

// HasControl reports whether a text has a line end, a tab or another control character. No name and no path needs one.
func HasControl(text string) bool {
	for i := range len(text) {
		if c := text[i]; c < ' ' || c == 0x7f || c >= utf8.RuneSelf {
			return strings.ContainsFunc(text[i:], unicode.IsControl)
		}
	}
	return false
}

// VariableName reports whether a text is the name of an environment variable: letters, digits and underscores, or how a
// shell names a function that it exports. Scripts cannot use others, and the lines of the protocol of submission
// verifiers divide names from values by blanks.
func VariableName(name string) bool {
	if function, is := strings.CutPrefix(name, "BASH_FUNC_"); is {
		if cut := strings.TrimSuffix(strings.TrimSuffix(function, "%%"), "()"); cut != function {
			return cut != "" && !strings.ContainsFunc(cut, func(r rune) bool {
				return !isWordRune(r) && !strings.ContainsRune(".:+@/-", r)
			})
		}
	}
	return name != "" && !strings.ContainsFunc(name, func(r rune) bool {
		return !isWordRune(r)
	}) && (name[0] < '0' || name[0] > '9')
}

// BadVariable returns why a text cannot be the name of an environment variable; nil when it can.
func BadVariable(name string) error {
	if VariableName(name) {
		return nil
	}
	return fmt.Errorf(
		"%q is not the name of an environment variable; use letters, digits and underscores, and no digit first", name)
}

func isWordRune(r rune) bool {
	return r == '_' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
}
