package jsv

import (
	"fmt"
	"strings"

	"github.com/quill-grid/quill/pkg/grid"
)

// Version of the protocol, the first parameter that is told.
const Version = "1.0"

// Param is one parameter of a job, as jsv_script_interface(3) names them.
type Param struct{ Name, Value string }

// Wish is what a verifier is told of a job. Env is told when it asks for it.
type Wish struct {
	Params []Param
	Env    grid.Values
}

// Change is one thing that a verifier wants to be otherwise.
type Change struct {
	Param
	Env  bool // of the job's environment
	Drop bool // the variable, from the environment
}

// Verdict is what a verifier says of a job. Refusal is why it is rejected, empty
// when it is not; Changes are then to be made, in order.
type Verdict struct {
	Refusal string
	Changes []Change
}

// Log is a LOG of a script. Level is INFO, WARNING or ERROR.
type Log struct{ Level, Text string }

// Turn is what follows from a line: what the script is told, what it has to log,
// whether the job is verified.
type Turn struct {
	Say  []string
	Log  *Log
	Over bool
}

// Dialog is the verification of one job.
type Dialog struct {
	Verdict Verdict
	wish    Wish
	env     bool
}

// Begin opens the verification of a job, and says the first lines.
func Begin(w Wish) (*Dialog, []string) { return &Dialog{wish: w}, []string{"START"} }

// Quit is the last line for a script.
const Quit = "QUIT"

// Hear takes a line of the script. An error is something that no script may say:
// the job is rejected and the script cannot be talked to any more.
func (d *Dialog) Hear(line string) (Turn, error) {
	verb, rest, _ := strings.Cut(strings.TrimRight(line, "\r\n"), " ")
	switch verb {
	case "":
		return Turn{}, nil
	case "STARTED":
		return Turn{Say: d.job()}, nil
	case "SEND":
		if rest != "ENV" {
			return Turn{}, fmt.Errorf("got %q as object for SEND command", rest)
		}
		d.env = true
		return Turn{}, nil
	case "LOG":
		level, text, _ := strings.Cut(rest, " ")
		return Turn{Log: &Log{level, text}}, nil
	case "PARAM":
		name, value, _ := strings.Cut(rest, " ")
		if name == "" {
			return Turn{}, fmt.Errorf("%q is invalid", line)
		}
		d.Verdict.Changes = append(d.Verdict.Changes, Change{Param: Param{name, strings.TrimSpace(value)}})
		return Turn{}, nil
	case "ENV":
		return Turn{}, d.variable(line, rest)
	case "RESULT":
		return Turn{Over: true}, d.result(rest)
	case "ERROR":
		return Turn{}, fmt.Errorf("JSV error: %s", rest)
	}
	return Turn{}, fmt.Errorf("master got unknown command from JSV: %q", verb)
}

// job is what the script is told of the job.
func (d *Dialog) job() (say []string) {
	for _, p := range d.wish.Params {
		say = append(say, "PARAM "+p.Name+" "+oneLine(p.Value))
	}
	if d.env {
		for _, v := range d.wish.Env {
			say = append(say, "ENV ADD "+v.Name+" "+oneLine(v.Text))
		}
	}
	return append(say, "BEGIN")
}

// oneLine keeps a value from being read as more than itself.
var oneLine = strings.NewReplacer("\n", `\n`, "\r", `\r`).Replace

func (d *Dialog) variable(line, rest string) error {
	verb, rest, _ := strings.Cut(rest, " ")
	name, value, _ := strings.Cut(rest, " ")
	known := verb == "ADD" || verb == "MOD" || verb == "DEL"
	if !known || name == "" {
		return fmt.Errorf("%q is invalid", line)
	}
	d.Verdict.Changes = append(d.Verdict.Changes, Change{Param{name, value}, true, verb == "DEL"})
	return nil
}

// result reads STATE state message.
func (d *Dialog) result(rest string) error {
	object, rest, _ := strings.Cut(rest, " ")
	state, message, _ := strings.Cut(rest, " ")
	if object != "STATE" {
		return fmt.Errorf("JSV got unknown command %q", object)
	}
	var silent string
	switch state {
	case "ACCEPT", "CORRECT":
		return nil
	case "REJECT":
		silent = "JSV rejected job"
	case "REJECT_WAIT":
		silent = "JSV temporarily rejected job"
	default:
		return fmt.Errorf("JSV sent unknown result %q", state)
	}
	if d.Verdict.Refusal = strings.TrimSpace(message); d.Verdict.Refusal == "" {
		d.Verdict.Refusal = silent
	}
	return nil
}
