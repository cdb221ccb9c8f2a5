package session

import (
	"strings"
	"sync"
	"time"

	"github.com/quill-grid/quill/pkg/grid"
)

// attribute is one row of drmaa_attributes(3).
type attribute struct {
	name   string
	vector bool
	// check refuses a value, an element of a vector's; nil: anything goes until
	// the job is submitted.
	check func(value string) error
}

// The names of the attributes.
const (
	remoteCommand       = "drmaa_remote_command"
	jsState             = "drmaa_js_state"
	workingDirectory    = "drmaa_wd"
	jobName             = "drmaa_job_name"
	inputPath           = "drmaa_input_path"
	outputPath          = "drmaa_output_path"
	errorPath           = "drmaa_error_path"
	joinFiles           = "drmaa_join_files"
	jobCategory         = "drmaa_job_category"
	nativeSpecification = "drmaa_native_specification"
	blockEmail          = "drmaa_block_email"
	startTime           = "drmaa_start_time"
	vArgv               = "drmaa_v_argv"
	vEnv                = "drmaa_v_env"
	vEmail              = "drmaa_v_email"
)

// attributes are those there are, in the order in which they are listed. Those of
// DRMAA that are not among them are not supported, and refused as unknown.
var attributes = []attribute{
	{name: remoteCommand},
	{name: jsState, check: oneOf(jsState, "drmaa_active", "drmaa_hold")},
	{name: workingDirectory},
	{name: jobName},
	{name: inputPath, check: isPath},
	{name: outputPath, check: isPath},
	{name: errorPath, check: isPath},
	{name: joinFiles, check: oneOf(joinFiles, "y", "n")},
	{name: jobCategory},
	{name: nativeSpecification},
	{name: blockEmail, check: oneOf(blockEmail, "0", "1")},
	{name: startTime, check: func(v string) error { _, err := parseStartTime(v, time.Now()); return err }},
	{name: vArgv, vector: true},
	{name: vEnv, vector: true, check: isVariable},
	{name: vEmail, vector: true},
}

// oneOf makes the check of an attribute that has two values.
func oneOf(name, a, b string) func(string) error {
	return func(v string) error {
		if v == a || v == b {
			return nil
		}
		return failf(InvalidAttributeValue, "attribute %q must be either %q or %q", name, a, b)
	}
}

// isPath refuses what is not [host]:path.
func isPath(v string) error {
	if !strings.Contains(v, ":") {
		return failf(InvalidAttributeFormat, "a path is written as [host]:path, not %q", v)
	}
	return nil
}

// isVariable refuses what is neither name=value nor the name of a variable.
func isVariable(v string) error {
	if v == "" || v[0] == '=' {
		return failf(InvalidAttributeFormat, "a variable is written as name=value, not %q", v)
	}
	return nil
}

// Names are the attributes there are: those with one value, or those with several.
func Names(vector bool) (names []string) {
	for _, a := range attributes {
		if a.vector == vector {
			names = append(names, a.name)
		}
	}
	return names
}

// Template is a job template, drmaa_jobtemplate(3). It may be used by several
// threads.
type Template struct {
	mu     sync.Mutex
	values map[string][]string
}

// Set sets an attribute that has one value.
func (t *Template) Set(name, value string) error { return t.set(name, false, value) }

// SetVector sets an attribute that has several.
func (t *Template) SetVector(name string, values []string) error { return t.set(name, true, values...) }

func (t *Template) set(name string, vector bool, values ...string) error {
	for _, a := range attributes {
		if a.name != name || a.vector != vector {
			continue
		}
		for _, v := range values {
			if a.check == nil {
				break
			}
			if err := a.check(v); err != nil {
				return err
			}
		}
		t.mu.Lock()
		defer t.mu.Unlock()
		if t.values == nil {
			t.values = map[string][]string{}
		}
		t.values[name] = values
		return nil
	}
	return failf(InvalidArgument, "attribute %q is not supported", name)
}

// Get returns what was set.
func (t *Template) Get(name string) (string, error) {
	values, err := t.get(name, false)
	if err != nil {
		return "", err
	}
	return values[0], nil
}

// Vector returns what was set.
func (t *Template) Vector(name string) ([]string, error) { return t.get(name, true) }

func (t *Template) get(name string, vector bool) ([]string, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	values, ok := t.values[name]
	for _, a := range attributes {
		if ok && a.name == name && a.vector == vector {
			return values, nil
		}
	}
	return nil, because(InvalidAttributeValue)
}

// said is a template as it was at one moment: what a job is made of.
type said map[string][]string

func (t *Template) said() said {
	t.mu.Lock()
	defer t.mu.Unlock()
	all := said{}
	for name, values := range t.values {
		all[name] = values
	}
	return all
}

func (s said) one(name string) (value string, ok bool) {
	if values := s[name]; len(values) == 1 {
		return values[0], true
	}
	return "", false
}

// override sets what the attributes say of a job, whatever the request files,
// the category and the native specification have said. getenv knows the variables
// that v_env names without a value.
func (s said) override(j *grid.Job, bulk bool, now time.Time, getenv func(string) string) error {
	spec := j.Spec
	if v, ok := s.one(jsState); ok {
		j.UserHold = nil
		if v == "drmaa_hold" {
			j.UserHold = j.Pending
		}
	}
	if v, ok := s.one(jobName); ok {
		j.Name = v
	}
	if v, ok := s.one(joinFiles); ok {
		spec.Merge = v == "y"
	}
	if v, ok := s.one(blockEmail); ok && v == "1" {
		spec.MailOptions = "n"
	}
	if v, ok := s.one(startTime); ok {
		at, err := parseStartTime(v, now)
		if err != nil {
			return err
		}
		j.ExecTime = grid.TimeOf(at)
	}
	if mail := s[vEmail]; len(mail) > 0 {
		spec.MailTo = mail
	}
	var env grid.Assigned
	env.Set(spec.Env...)
	for _, v := range s[vEnv] {
		name, value, given := strings.Cut(v, "=")
		if !given {
			value = getenv(name)
		}
		if err := grid.BadVariable(name); err != nil {
			return err
		}
		env.Set(grid.Value{Name: name, Text: value})
	}
	spec.Env = env.Values()
	return s.places(spec, bulk)
}
