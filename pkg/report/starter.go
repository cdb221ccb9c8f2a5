package report

import (
	"errors"
	"strings"
)

// Starter is the input of the starter, the program that runs in place of a job or PE
// task with a Connect. It is in the file that StarterFile in the environment names,
// which only the owner can read. The starter connects as Connect says, runs
// Args with the connection as terminal or standard streams and exits with their status.
type Starter struct {
	Connect string
	Args    []string // none: the owner's login shell as such
	NoShell bool     // run Args as they are, not by the -c of that shell
}

// Text returns the contents of the file: words, each followed by a zero byte.
func (s Starter) Text() []byte {
	shell := ""
	if s.NoShell {
		shell = "n"
	}
	var b []byte
	for _, word := range append([]string{s.Connect, shell}, s.Args...) {
		b = append(append(b, word...), 0)
	}
	return b
}

// ParseStarter reads what Text returned. It fails when the end is missing.
func ParseStarter(text []byte) (Starter, error) {
	words := strings.Split(string(text), "\x00")
	n := len(words) - 1
	if n < 2 || words[n] != "" {
		return Starter{}, errors.New("the file for the starter is cut short")
	}
	return Starter{Connect: words[0], NoShell: words[1] == "n", Args: words[2:n]}, nil
}

// StarterFile is the variable that names the file, StarterName the command that reads
// it: `quill qrsh_starter`.
const (
	StarterFile = "QRSH_STARTER"
	StarterName = "qrsh_starter"
)
