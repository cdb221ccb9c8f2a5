package main

import (
	"fmt"
	"strings"
	"testing"

	"github.com/urfave/cli/v2"

	"github.com/quill-grid/quill/pkg/opt"
	"github.com/quill-grid/quill/tools/quill-daemon/serve"
	"github.com/quill-grid/quill/tools/quill-lab/lab"
)

// TestOthers holds what quill prints of other programs against what they hold.
func TestOthers(t *testing.T) {
	var listed, held []string
	for _, o := range others {
		listed = append(listed, fmt.Sprintf("%s %q %q", o.program, o.name, o.usage))
	}
	hold := func(program string, builds []func(opt.Env) *cli.Command) {
		for _, build := range builds {
			c := build(opt.Env{})
			if c.Hidden {
				c.Usage = ""
			}
			held = append(held, fmt.Sprintf("%s %q %q", program, c.Name, c.Usage))
		}
	}
	hold("quill-daemon", serve.Commands)
	hold("quill-lab", lab.Commands)
	if fmt.Sprint(listed) != fmt.Sprint(held) {
		t.Errorf("others.go lists\n%s\nand there are\n%s", strings.Join(listed, "\n"), strings.Join(held, "\n"))
	}
}
