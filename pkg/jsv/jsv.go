package jsv

import (
	"fmt"
	"strings"

	"github.com/quill-grid/quill/pkg/grid"
)

// Version of the protocol, the first parameter that is sent.
const Version = "1.0"

// Param is one parameter of a job, as jsv_script_interface(3) names them.
type Param struct{ Name, Value string }

// JobDescription is a job as a verifier receives it. Env is sent when the script requests it.
type JobDescription struct {
	Params []Param
	Env    grid.Values
}

// Correction is one change of a job that a verifier requests.
type Correction struct {
	Param
	Env  bool // of the job's environment
	Drop bool // the variable, from the environment
}

// Result is a verifier's decision about a job. Refusal is why the job is rejected, empty
// when it is not; Corrections are then to be made, in order.
type Result struct {
	Refusal     string
	Corrections []Correction
}

// LogMessage is a LOG of a script. Level is INFO, WARNING or ERROR.
type LogMessage struct{ Level, Text string }

// Turn is what follows from a line of the script: lines to send to it, a line for the
// log, whether the verification is over.
type Turn struct {
	Send []string
	Log  *LogMessage
	Done bool
}

// Dialog is the verification of one job.
type Dialog struct {
	Result    Result
	described JobDescription
	env       bool
}

// Begin opens the verification of a job and returns the first lines to send.
func Begin(w JobDescription) (*Dialog, []string) { return &Dialog{described: w}, []string{"START"} }

// Quit is the last line for a script.
const Quit = "QUIT"

// Receive processes a line of the script. It fails if the line breaks the protocol: the
// job is then rejected and the script cannot be used any more.
func (d *Dialog) Receive(line string) (Turn, error) {
	verb, rest, _ := strings.Cut(strings.TrimRight(line, "\r\n"), " ")
	switch verb {
	case "":
		return Turn{}, nil
	case "STARTED":
		return Turn{Send: d.job()}, nil
	case "SEND":
		if rest != "ENV" {
			return Turn{}, fmt.Errorf("got %q as object for SEND command", rest)
		}
		d.env = true
		return Turn{}, nil
	case "LOG":
		level, text, _ := strings.Cut(rest, " ")
		return Turn{Log: &LogMessage{level, text}}, nil
	case "PARAM":
		name, value, _ := strings.Cut(rest, " ")
		if name == "" {
			return Turn{}, fmt.Errorf("%q is invalid", line)
		}
		d.Result.Corrections = append(d.Result.Corrections, Correction{Param: Param{name, strings.TrimSpace(value)}})
		return Turn{}, nil
	case "ENV":
		return Turn{}, d.variable(line, rest)
	case "RESULT":
		return Turn{Done: true}, d.result(rest)
	case "ERROR":
		return Turn{}, fmt.Errorf("JSV error: %s", rest)
	}
	return Turn{}, fmt.Errorf("master got unknown command from JSV: %q", verb)
}

// job returns the lines that describe the job.
func (d *Dialog) job() (lines []string) {
	for _, p := range d.described.Params {
		lines = append(lines, "PARAM "+oneLine(p.Name)+" "+oneLine(p.Value))
	}
	if d.env {
		for _, v := range d.described.Env {
			lines = append(lines, "ENV ADD "+oneLine(v.Name)+" "+oneLine(v.Text))
		}
	}
	return append(lines, "BEGIN")
}

// oneLine escapes line breaks, which would end the line. Names have none where this package is used: a second wall.
var oneLine = strings.NewReplacer("\n", `\n`, "\r", `\r`).Replace

func (d *Dialog) variable(line, rest string) error {
	verb, rest, _ := strings.Cut(rest, " ")
	name, value, _ := strings.Cut(rest, " ")
	known := verb == "ADD" || verb == "MOD" || verb == "DEL"
	if !known || name == "" {
		return fmt.Errorf("%q is invalid", line)
	}
	d.Result.Corrections = append(d.Result.Corrections, Correction{Param{name, value}, true, verb == "DEL"})
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
	if d.Result.Refusal = strings.TrimSpace(message); d.Result.Refusal == "" {
		d.Result.Refusal = silent
	}
	return nil
}
