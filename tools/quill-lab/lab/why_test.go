package lab

import (
	"bytes"
	"strings"
	"testing"

	"github.com/urfave/cli/v2"

	"github.com/quill-grid/quill/pkg/opt"
)

// TestWhyWords: flags may stand on either side of the job.
func TestWhyWords(t *testing.T) {
	for line, want := range map[string]string{
		"--log /no/such":              "quill: why: stat /no/such: ",
		"--user alice --log /no/such": "quill: why: stat /no/such: ",
		"--user alice 1":              "quill: why: --user is for all jobs of a user: without a JOB\n",
		"1 2":                         "quill: why: one JOB or JOB.TASK at a time, or none for all that wait\n",
		"1x":                          "quill: why: \"1x\" names no job: a number was expected, or JOB.TASK\n",
		"x --log /no/such":            "quill: why: \"x\" is no number of a job: names are known to the qmaster of the cell alone",
		"--log /no/such 1":            "quill: why: stat /no/such: ",
		"1 --log /no/such":            "quill: why: stat /no/such: ",
		"--at 7 1 --log=/no/such":     "quill: why: stat /no/such: ",
		"--log /none 1 -log /no/such": "quill: why: stat /no/such: ",
		"1 --at":                      "quill: why: flag needs an argument: -at\n",
		"1 --colour":                  "quill: why: flag provided but not defined: -colour\n",
		"1 --json=maybe":              "quill: why: invalid boolean value \"maybe\" for -json",
		"1 --help":                    "",
	} {
		var out, errs bytes.Buffer
		env := opt.Env{Stdout: &out, Stderr: &errs, Getenv: func(string) string { return "" }}
		code := opt.RunMenu(env, &cli.App{Name: "quill"}, []func(opt.Env) *cli.Command{whyCommand},
			append([]string{"why"}, strings.Fields(line)...))
		if !strings.HasPrefix(errs.String(), want) || (code == 0) != (want == "") {
			t.Errorf("why %s: %d, %s", line, code, errs.String())
		}
		if want == "" && !strings.Contains(out.String(), "quill why [OPTIONS] [JOB[.TASK]|NAME]") {
			t.Errorf("why %s: %s", line, out.String())
		}
	}
}
