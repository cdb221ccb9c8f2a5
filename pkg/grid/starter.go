package grid

import (
	"fmt"
	"strings"
)

// ContainerRequest is the attribute by which a job asks for a container: its image.
const ContainerRequest = "container"

// Starters is the parameter of sge_conf(5) that says how jobs are started in containers.
const Starters = "container_starters"

// Starter is one of the command lines of container_starters: for images that match Pattern, the words to put before a
// job's own.
type Starter struct {
	Pattern string
	Words   []string
}

// ParseStarters reads container_starters: PATTERN=COMMAND LINE; PATTERN=COMMAND LINE ... It fails when an entry has no
// pattern, no program with its whole path, or no $image.
func ParseStarters(text string) (list []Starter, err error) {
	if text == "" || strings.EqualFold(text, "none") {
		return nil, nil
	}
	for entry := range strings.SplitSeq(text, ";") {
		words := strings.Fields(entry)
		if len(words) == 0 {
			continue
		}
		pattern, program, ok := strings.Cut(words[0], "=")
		switch {
		case !ok || pattern == "":
			return nil, fmt.Errorf("%q does not begin with a pattern for images and %q", strings.TrimSpace(entry), "=")
		case !strings.HasPrefix(program, "/"):
			return nil, fmt.Errorf("the program of %q must start with a %q", strings.TrimSpace(entry), "/")
		case !strings.Contains(strings.Join(words[1:], " "), "$image"):
			return nil, fmt.Errorf("%q does not name the image: $image", strings.TrimSpace(entry))
		}
		list = append(list, Starter{Pattern: pattern, Words: append([]string{program}, words[1:]...)})
	}
	return list, nil
}
