package report

import (
	"errors"
	"slices"
	"strconv"
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
	Inside  []string // words to put before all that is run: they start it in a container. Its shell is /bin/sh
}

// Text returns the contents of the file: words, each followed by a zero byte.
func (s Starter) Text() []byte {
	shell := ""
	if s.NoShell {
		shell = "n"
	}
	var b []byte
	for _, word := range slices.Concat([]string{s.Connect, shell, strconv.Itoa(len(s.Inside))}, s.Inside, s.Args) {
		b = append(append(b, word...), 0)
	}
	return b
}

// ParseStarter reads what Text returned. It fails when the end is missing.
func ParseStarter(text []byte) (Starter, error) {
	words := strings.Split(string(text), "\x00")
	n := len(words) - 1
	if n < 3 || words[n] != "" {
		return Starter{}, errors.New("the file for the starter is cut short")
	}
	inside, err := strconv.Atoi(words[2])
	if err != nil || inside < 0 || inside > n-3 {
		return Starter{}, errors.New("the file for the starter is damaged")
	}
	return Starter{Connect: words[0], NoShell: words[1] == "n", Inside: words[3 : 3+inside], Args: words[3+inside : n]},
		nil
}

// StarterFile is the variable that names the file, StarterName the command that reads
// it: `quill qrsh_starter`.
const (
	StarterFile = "QRSH_STARTER"
	StarterName = "qrsh_starter"
)
