package conf_test

import (
	"fmt"
	"strings"

	"github.com/quill-grid/quill/pkg/conf"
	"github.com/quill-grid/quill/pkg/grid"
)

// The text form is what qconf prints and reads; one attribute can be set in it.
func ExampleSet() {
	pe := &grid.PE{}
	if err := conf.Parse(conf.Format(grid.DefaultPE("mpi")), pe); err != nil {
		fmt.Println(err)
		return
	}
	changed, err := conf.Set(pe, "allocation_rule", "$fill_up")
	if err != nil {
		fmt.Println(err)
		return
	}
	for line := range strings.Lines(conf.Format(changed)) {
		if f := strings.Fields(line); f[0] == "pe_name" || f[0] == "allocation_rule" {
			fmt.Println(f[0], f[1])
		}
	}
	_, err = conf.Set(pe, "slots", "many")
	fmt.Println(err)
	// Output:
	// pe_name mpi
	// allocation_rule $fill_up
	// error parsing unsigned long value from string "many" for attribute "slots"
}
