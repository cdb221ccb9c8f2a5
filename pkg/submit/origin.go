package submit

import (
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/switches"
)

// Origin is what a submission reads of the process that submits.
type Origin struct {
	Stdin   io.Reader
	Getenv  func(string) string
	Environ []string
	Dir     string // working directory; "": it has been removed
	Host    string // this machine's name
	Common  string // the directory of the files that all hosts of the cell share; "": there is no cell
	Now     func() time.Time
	// Away: the words come from a program elsewhere, and this process has other rights than their user. Nothing of this
	// host is used: no files of options, verifiers or scripts, no directory, and of variables those of Getenv. A script
	// comes from Stdin.
	Away bool
}

// notAway refuses what an Origin that is Away does not have.
func (o Origin) notAway(what string) error {
	if o.Away {
		return switches.Errorf("%s is not allowed here: it means a file of this host", what)
	}
	return nil
}

// Here returns the origin of this process with these variables, NAME=VALUE: without standard input and without a cell.
func Here(environ []string) Origin {
	dir, _ := os.Getwd()
	host, _ := os.Hostname()
	return Origin{Stdin: strings.NewReader(""), Getenv: Variables(environ), Environ: environ, Dir: dir,
		Host: host, Now: time.Now}
}

// Variables returns the look-up function of an environment, NAME=VALUE; of several with one name the last counts.
func Variables(environ []string) func(string) string {
	return func(name string) string {
		for _, v := range slices.Backward(environ) {
			if value, ok := strings.CutPrefix(v, name+"="); ok {
				return value
			}
		}
		return ""
	}
}

// NoDirectory is the error text of a command that needs the working directory and has none.
const NoDirectory = "cannot read current working directory"

// defaultFiles returns where a file of an administrator's and a user's defaults may be.
func (o Origin) defaultFiles(name string) []string {
	return switches.DefaultFiles(o.Common, o.Getenv("HOME"), name)
}

// Job returns the job of "qsub -o /dev/null -j y -shell n -b y WORDS" where there are no request files: that of a load
// generator.
func Job(o Origin, words ...string) (*grid.Job, error) {
	getenv := o.Getenv
	o.Common, o.Getenv = "", func(name string) string {
		if name == "HOME" {
			return ""
		}
		return getenv(name)
	}
	c := Qsub(o)
	s := c.New(append([]string{"-o", "/dev/null", "-j", "y", "-shell", "n", "-b", "y"}, words...))
	if err := c.Parse(s, s.Line); err != nil {
		return nil, err
	}
	s, err := s.Complete()
	if err != nil {
		return nil, err
	}
	return s.Job, nil
}
