package submit_test

import (
	"fmt"
	"strings"

	"github.com/quill-grid/quill/pkg/submit"
)

// The options of a script are those of the command line, in lines that begin with #$; the command line goes first.
func ExampleQsub() {
	script := "#!/bin/sh\n#$ -N night -l h_rt=60\necho done\n"
	origin := submit.Origin{Stdin: strings.NewReader(script), Getenv: func(string) string { return "" }, Dir: "/home/ana"}
	s, err := submit.Qsub(origin).New([]string{"-N", "day"}).Complete()
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(s.Job.Name)
	// Output:
	// day
}
