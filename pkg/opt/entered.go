package opt

import (
	"fmt"
	"strings"

	"github.com/urfave/cli/v2"
)

// Entered returns the command with the options that were set, as it would be entered again. Options of commands above
// it are not in it.
func Entered(c *cli.Context) string {
	words := []string{c.Command.HelpName}
	for _, f := range c.Command.Flags {
		name := f.Names()[0]
		if !c.IsSet(name) {
			continue
		}
		switch f.(type) {
		case *cli.BoolFlag:
			words = append(words, "--"+name)
		case *cli.StringSliceFlag:
			for _, v := range c.StringSlice(name) {
				words = append(words, "--"+name, quoted(v))
			}
		default:
			words = append(words, "--"+name, quoted(fmt.Sprint(c.Value(name))))
		}
	}
	return strings.Join(words, " ")
}

// quoted returns a word as a shell reads it back.
func quoted(word string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_./:,=+@%", r)
	}
	if word != "" && strings.IndexFunc(word, func(r rune) bool { return !plain(r) }) < 0 {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}
