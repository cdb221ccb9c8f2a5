package report

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// Mail is one message, for the configured mailer, which is run for each address
// as `mailer -s SUBJECT ADDRESS` with the text on its standard input. Owner is the user whose job or
// reservation it is about: owners have turns.
type Mail struct {
	Owner         string
	To            []string
	Subject, Text string
}

// BadAddress returns why an address is not accepted, "" for a valid one. Mailers run as
// root and interpret an address that begins with a dash as an option, with | as a
// program, with / or + as a file.
func BadAddress(to string) string {
	for i := range len(to) {
		switch c := to[i]; {
		case c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_':
		case i > 0 && strings.IndexByte("@.-+=%\\", c) >= 0:
		default:
			char, _ := utf8.DecodeRuneInString(to[i:])
			return fmt.Sprintf("mail address %q is not valid: character %q is not allowed at position %d", to, char, i+1)
		}
	}
	if to == "" {
		return "mail addresses may not be empty"
	}
	return ""
}
