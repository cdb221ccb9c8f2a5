package switches

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/kballard/go-shellquote"
)

// DefaultFiles returns where a file of an administrator's and a user's defaults may be: NAME in the directory that all hosts of
// the cell share, then .NAME in the user's home. An empty directory has none.
func DefaultFiles(common, home, name string) (paths []string) {
	if common != "" {
		paths = append(paths, filepath.Join(common, name))
	}
	if home != "" {
		paths = append(paths, filepath.Join(home, "."+name))
	}
	return paths
}

// FileWords returns the words of a file of options: one or more switches a line, lines with # in the first column are comments.
// A file that does not exist has none. It fails when the file cannot be read or a quote is not closed.
func FileWords(path string) (words []string, err error) {
	text, err := os.ReadFile(path)
	if os.IsNotExist(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		more, err := LineWords(line)
		if err != nil {
			return nil, Errorf("%s: %v", path, err)
		}
		words = append(words, more...)
	}
	return words, nil
}

// LineWords cuts a line of options into words as a shell does: quotes and backslashes
// have a meaning, a dollar sign has none. A comment begins with an unquoted #. It fails
// when a quote is not closed.
func LineWords(line string) ([]string, error) {
	return shellquote.Split(uncomment(strings.TrimSpace(line)))
}

// uncomment cuts a line at the first # outside of quotes.
func uncomment(line string) string {
	var quote byte
	for i := 0; i < len(line); i++ {
		switch c := line[i]; {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '\\':
			i++
		case c == '\'' || c == '"':
			quote = c
		case c == '#':
			return line[:i]
		}
	}
	return line
}
