package switches

import (
	"os"
	"path/filepath"
	"strings"
	"unicode"
)

// DefaultFiles returns where a file of an administrator's and a user's defaults may be: NAME in the directory that all
// hosts of the cell share, then .NAME in the user's home. An empty directory has none.
func DefaultFiles(common, home, name string) (paths []string) {
	if common != "" {
		paths = append(paths, filepath.Join(common, name))
	}
	if home != "" {
		paths = append(paths, filepath.Join(home, "."+name))
	}
	return paths
}

// FileLines returns the words of each line of a file of options; lines with # in the first column are comments. A file
// that does not exist has none.
func FileLines(path string) (lines [][]string, err error) {
	text, err := os.ReadFile(path)
	if os.IsNotExist(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	for line := range strings.Lines(string(text)) {
		if words := LineWords(line); len(words) > 0 {
			lines = append(lines, words)
		}
	}
	return lines, nil
}

// LineWords cuts a line of options into words as Grid Engine does: blanks separate words outside of quotes, single or
// double. A quote that is not closed reaches to the end of the line. Backslashes and dollar signs have no meaning. A
// comment begins with an unquoted #.
func LineWords(line string) (words []string) {
	var (
		word  strings.Builder
		begun bool
		quote rune
	)
	end := func() {
		if begun {
			words = append(words, word.String())
		}
		word.Reset()
		begun = false
	}
	for _, c := range strings.TrimSpace(line) {
		switch {
		case quote != 0 && c == quote:
			quote = 0
		case quote == 0 && (c == '\'' || c == '"'):
			quote, begun = c, true
		case quote == 0 && c == '#':
			end()
			return words
		case quote == 0 && unicode.IsSpace(c):
			end()
		default:
			word.WriteRune(c)
			begun = true
		}
	}
	end()
	return words
}
