package main

import (
	"fmt"
	"testing"

	"github.com/quill-grid/quill/pkg/opt"
	"github.com/quill-grid/quill/tools/lab"
)

// TestLaboratory holds what quill tells of the laboratory against what is there.
func TestLaboratory(t *testing.T) {
	var told, there []string
	for _, l := range laboratory {
		told = append(told, fmt.Sprintf("{%q, %q}", l.name, l.usage))
	}
	for _, build := range lab.Commands {
		c := build(opt.Env{})
		there = append(there, fmt.Sprintf("{%q, %q}", c.Name, c.Usage))
	}
	if fmt.Sprint(told) != fmt.Sprint(there) {
		t.Errorf("lab.go lists\n%s\nand there are\n%s", told, there)
	}
}
