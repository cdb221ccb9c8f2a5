package submit

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/quill-grid/quill/pkg/grid"
)

// TestDirectives: each line of input is a script whose lines of options are read. The answers of the case "same" are
// those of Grid Engine 8.1.9, as qstat -j prints the jobs. The lines of the case "differs" have the answer of 8.1.9
// after a tab.
func TestDirectives(t *testing.T) {
	origin := Here(nil)
	origin.Dir = t.TempDir()
	datadriven.RunTest(t, "testdata/directives.txt", func(t *testing.T, d *datadriven.TestData) string {
		var b strings.Builder
		for line := range strings.SplitSeq(d.Input, "\n") {
			line, _, _ = strings.Cut(line, "\t")
			text, err := strconv.Unquote(line)
			if err != nil {
				d.Fatalf(t, "%s: %v", line, err)
			}
			if err := os.WriteFile(filepath.Join(origin.Dir, "job.sh"), []byte("#!/bin/sh\n"+text+"sleep 1\n"),
				0o600); err != nil {
				t.Fatal(err)
			}
			s, err := Qsub(origin).New([]string{"job.sh"}).Complete()
			if err != nil {
				fmt.Fprintf(&b, "%s\trefused\n", line)
				continue
			}
			fmt.Fprintf(&b, "%s\t%s\n", line, describeDirectives(s.Job))
		}
		return b.String()
	})
}

// describeDirectives is what the directives of a script have set, in the form of qstat -j.
func describeDirectives(j *grid.Job) string {
	var fields []string
	add := func(name, value string) {
		if value != "" {
			fields = append(fields, name+" "+value)
		}
	}
	assignments := func(list grid.Values) string {
		var words []string
		for _, v := range list {
			if !strings.HasPrefix(v.Name, "SGE_O_") {
				words = append(words, v.Name+"="+v.Text)
			}
		}
		return strings.Join(words, ",")
	}
	requests := func(list grid.Requests) string {
		var words []string
		for _, r := range list {
			words = append(words, r.Name+"="+r.Value)
		}
		return strings.Join(words, ",")
	}
	if j.Binary {
		add("binary", "yes")
	}
	if j.Name != "job.sh" {
		add("name", j.Name)
	}
	add("account", j.Account)
	add("hard", requests(j.Hard))
	add("soft", requests(j.Soft))
	add("context", assignments(j.Spec.Context))
	add("variables", assignments(j.Spec.Env))
	return strings.Join(fields, ", ")
}
