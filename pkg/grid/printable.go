package grid

import (
	"strings"
	"unicode"
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
