package submit

import (
	"errors"
	"os"
	"path/filepath"
	"strings"

	"github.com/quill-grid/quill/pkg/switches"
)

// Template is what a DRMAA job template says in the words of qsub, with the
// names of drmaa_attributes(3).
type Template struct {
	Category string   // job_category
	Native   string   // native_specification
	Command  string   // remote_command
	Args     []string // v_argv
	Dir      string   // where a relative script is looked for; "": the working directory
}

// templateDefaults are what holds for the jobs of DRMAA unless the request
// files say otherwise.
var templateDefaults = []string{"-b", "y", "-shell", "n", "-w", "e"}

// program is what a template has run: no word of it is a switch.
type program struct {
	words []string
	dir   string
}

// Submission makes the whole job of a template, as Complete does: the request files, the
// script (-b n), the category and the native specification, in this order. It refuses
// options that concern qsub and not the job.
func (t Template) Submission(o Origin) (*Submission, error) {
	var line []string
	if t.Category != "" {
		words, err := categoryOptions(o, t.Category)
		if err != nil {
			return nil, err
		}
		line = words
	}
	s := Qsub(o).New(append(line, switches.LineWords(t.Native)...))
	s.program = &program{append([]string{t.Command}, t.Args...), t.Dir}
	s, err := s.Complete()
	if err != nil {
		return nil, err
	}
	switch mode := s.Job.Spec.Verify; {
	case s.Sync:
		return nil, switches.Errorf("-sync is not supported here: wait for the job instead")
	case s.Job.Array:
		return nil, switches.Errorf("-t is not supported here: submit several tasks at once instead")
	case s.Verify:
		return nil, switches.Errorf("-verify is not supported here")
	case mode == "v", mode == "p":
		return nil, switches.Errorf("-w %s is not supported here: nothing would be submitted", mode)
	}
	return s, nil
}

// takeProgram reads the words of a template, none of which is the program.
func (s *Submission) takeProgram() error {
	err := s.readSwitches(s.table, s.Line)
	s.Command = s.program.words
	return err
}

func (s *Submission) programWords() []string {
	if s.program == nil {
		return nil
	}
	return s.program.words
}

// scriptDir is where a relative script is looked for.
func (s *Submission) scriptDir() string {
	if s.program != nil && s.program.dir != "" {
		return s.program.dir
	}
	return s.origin.Dir
}

// categoryOptions is what the files of qtask(5) say after a name: the user's own
// unless the cell's has an exclamation mark before it.
func categoryOptions(o Origin, name string) ([]string, error) {
	var cell string
	if o.Common != "" {
		cell = filepath.Join(o.Common, "qtask")
	}
	words, final, found, err := readCategory(cell, name)
	if err != nil || final {
		return words, err
	}
	own, _, mine, err := readCategory(filepath.Join(o.Getenv("HOME"), ".qtask"), name)
	switch {
	case mine || err != nil:
		return own, err
	case !found:
		return nil, switches.Errorf("Unknown job category")
	}
	return words, nil
}

// readCategory looks a name up in a file of qtask(5). One that does not exist has
// none.
func readCategory(path, name string) (words []string, final, found bool, err error) {
	text, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil, false, false, nil
	}
	if err != nil {
		return nil, false, false, err
	}
	for line := range strings.Lines(string(text)) {
		words := switches.LineWords(line)
		if len(words) == 0 {
			continue
		}
		if first, final := strings.CutPrefix(words[0], "!"); first == name {
			return words[1:], final, true, nil
		}
	}
	return nil, false, false, nil
}
