package document

import (
	"time"

	"github.com/quill-grid/quill/pkg/grid"
)

// Version is quill version --json.
type Version struct {
	Name    string `json:"name"`
	Version string `json:"version"`
}

// SchemaName returns quill-version.
func (Version) SchemaName() string { return "quill-version" }

// Status is quill status --json.
type Status struct {
	Cell      string     `json:"cell" jsonschema:"directory of the cell"`
	QMaster   string     `json:"qmaster" jsonschema:"host of qmaster"`
	Seq       uint64     `json:"seq" jsonschema:"number of the last event list"`
	Scheduler bool       `json:"scheduler" jsonschema:"true: one is registered"`
	Hosts     int        `json:"hosts" jsonschema:"execution hosts that have reported"`
	Silent    int        `json:"silent_hosts" jsonschema:"those of them that report no more"`
	Queues    int        `json:"queue_instances"`
	Closed    int        `json:"queue_instances_closed" jsonschema:"those of them that start no jobs: disabled, suspended, unknown, in error and so on"`
	Slots     int        `json:"slots" jsonschema:"of all queue instances"`
	Used      int        `json:"slots_used" jsonschema:"slots of started tasks"`
	Tasks     TaskCounts `json:"tasks"`
	Streams   []Stream   `json:"streams" jsonschema:"where the log and the recorded scheduling runs are stored"`
}

// SchemaName returns quill-status.
func (Status) SchemaName() string { return "quill-status" }

// TaskCounts is tasks by what they do.
type TaskCounts struct {
	Running int `json:"running" jsonschema:"started tasks, suspended ones too"`
	Waiting int `json:"waiting"`
	Held    int `json:"held"`
	Error   int `json:"error"`
}

// Keys is quill key list --json and, of revoked keys, quill key revoke --json.
type Keys struct {
	Keys Rows[Key] `json:"keys" jsonschema:"in the order in which they were registered"`
}

// SchemaName returns quill-key-list.
func (Keys) SchemaName() string { return "quill-key-list" }

// Key is a registered key.
type Key struct {
	Role   string `json:"role" jsonschema:"user, admin, host, scheduler or qmaster"`
	Name   string `json:"name" jsonschema:"of the user or host"`
	Public string `json:"public" jsonschema:"the public key"`
}

// MadeKey is quill key user --json and its like, and quill key own --json.
type MadeKey struct {
	Role       string `json:"role" jsonschema:"user, admin, host, scheduler or qmaster"`
	Name       string `json:"name" jsonschema:"of the user or host"`
	Public     string `json:"public" jsonschema:"the public key"`
	File       string `json:"secret_file,omitzero" jsonschema:"path of the secret key; absent: with --public, which its owner has"`
	Registered bool   `json:"registered" jsonschema:"false: the administrator is to register it"`
}

// SchemaName returns quill-key.
func (MadeKey) SchemaName() string { return "quill-key" }

// File is quill unit --json and quill nats-config --json: a file for another program.
type File struct {
	Name string `json:"name" jsonschema:"of the daemon, or nats"`
	Text string `json:"text" jsonschema:"what the file contains"`
}

// SchemaName returns quill-file.
func (File) SchemaName() string { return "quill-file" }

// Links is quill links --json.
type Links struct {
	Directory string   `json:"directory" jsonschema:"as given"`
	Links     []string `json:"links" jsonschema:"names of the links in it"`
}

// SchemaName returns quill-links.
func (Links) SchemaName() string { return "quill-links" }

// Algorithms is quill sched algorithms --json and quill sched get --json.
type Algorithms struct {
	Algorithms Rows[Algorithm] `json:"algorithms"`
}

// SchemaName returns quill-sched-algorithms.
func (Algorithms) SchemaName() string { return "quill-sched-algorithms" }

// Algorithm is a scheduling algorithm with its parameters.
type Algorithm struct {
	Name       string               `json:"name"`
	Parameters []AlgorithmParameter `json:"parameters" jsonschema:"with get: the requested ones"`
}

// AlgorithmParameter is a parameter of an algorithm, or a row of one that is a table.
type AlgorithmParameter struct {
	Name  string `json:"name"`
	Value string `json:"value"`
	Help  string `json:"help,omitzero" jsonschema:"meaning and unit"`
	Table bool   `json:"table" jsonschema:"true: the value is a row of a table"`
}

// AlgorithmOf returns the row of an algorithm.
func AlgorithmOf(name string, parameters []grid.Param) Algorithm {
	out := Algorithm{Name: name, Parameters: []AlgorithmParameter{}}
	for _, p := range parameters {
		out.Parameters = append(out.Parameters, AlgorithmParameter{p.Name, p.Text, p.Help, p.Table})
	}
	return out
}

// Explanation is quill sched explain --json.
type Explanation struct {
	Algorithm string   `json:"algorithm"`
	Lines     []string `json:"lines" jsonschema:"how the algorithm sees the cell, as text"`
}

// SchemaName returns quill-sched-explain.
func (Explanation) SchemaName() string { return "quill-sched-explain" }

// Log is quill log --json.
type Log struct {
	First    Mark     `json:"first"`
	Last     Mark     `json:"last"`
	Epoch    uint32   `json:"epoch"`
	Bytes    int64    `json:"bytes" jsonschema:"size of all event lists"`
	Packed   int64    `json:"bytes_on_disk"`
	Segments int      `json:"segments" jsonschema:"files"`
	States   []Mark   `json:"states" jsonschema:"stored full states"`
	Runs     *Runs    `json:"runs,omitzero" jsonschema:"recorded scheduling runs; absent: none"`
	KeepRuns *Keep    `json:"keep_runs,omitzero" jsonschema:"how long runs are stored; absent: they are not, or it is not known"`
	KeepList *Keep    `json:"keep_lists,omitzero" jsonschema:"how long event lists are stored; absent: not known"`
	Notes    LogNotes `json:"notes"`
}

// SchemaName returns quill-log.
func (Log) SchemaName() string { return "quill-log" }

// Mark is a place in the log.
type Mark struct {
	Seq  uint64    `json:"seq" jsonschema:"number of the event list"`
	Time time.Time `json:"time,omitzero" jsonschema:"absent: not known"`
}

// MarkOf returns the place of an event list.
func MarkOf(seq uint64, at grid.Time) Mark { return Mark{seq, timeOf(at)} }

// Runs is the scheduling runs that are recorded.
type Runs struct {
	From  uint64 `json:"from" jsonschema:"number of the event list of the first"`
	Bytes int64  `json:"bytes"`
}

// Keep is how long and how much something is stored.
type Keep struct {
	Seconds *float64 `json:"seconds,omitzero" jsonschema:"absent: without limit"`
	Bytes   *float64 `json:"bytes,omitzero" jsonschema:"absent: without limit"`
}

// KeepOf returns the limits, of which grid.Infinity is none.
func KeepOf(seconds, bytes float64) *Keep {
	limit := func(n float64) *float64 {
		if n >= grid.Infinity {
			return nil
		}
		return &n
	}
	return &Keep{limit(seconds), limit(bytes)}
}

// LogNotes is what must be known of an exported log.
type LogNotes struct {
	Redacted bool   `json:"redacted" jsonschema:"true: names stand for others"`
	Partial  bool   `json:"partial" jsonschema:"true: without what only managers may see"`
	CutOff   string `json:"cut_off,omitzero" jsonschema:"the damage before which an exported log ends"`
}

// LogCopy is quill log export --json, quill log import --json, quill backup --json and quill restore --json.
type LogCopy struct {
	Path  string   `json:"path" jsonschema:"the file that was written, or the directory of the cell that was made"`
	Lists int      `json:"lists" jsonschema:"event lists in it"`
	First *Mark    `json:"first,omitzero" jsonschema:"absent: there are no lists"`
	Last  *Mark    `json:"last,omitzero" jsonschema:"absent: there are no lists"`
	Notes LogNotes `json:"notes"`
}

// SchemaName returns quill-log-copy.
func (LogCopy) SchemaName() string { return "quill-log-copy" }

// LogCheck is quill log verify --json.
type LogCheck struct {
	Good   bool         `json:"good" jsonschema:"true: nothing is damaged"`
	Lists  int          `json:"lists" jsonschema:"good event lists"`
	Events int          `json:"events" jsonschema:"events in them"`
	Epochs int          `json:"epochs"`
	First  *Mark        `json:"first,omitzero" jsonschema:"absent: there are no lists"`
	Last   *Mark        `json:"last,omitzero" jsonschema:"absent: there are no lists"`
	States []StateCheck `json:"states" jsonschema:"stored full states"`
	Damage string       `json:"damage,omitzero" jsonschema:"what is damaged after the last good list; absent: nothing"`
	Beyond []Mark       `json:"beyond" jsonschema:"full states after the damage, from which reading can continue"`
	Files  []string     `json:"files,omitzero" jsonschema:"what is wrong with files of a backup; absent: nothing"`
	Notes  LogNotes     `json:"notes"`
}

// SchemaName returns quill-log-verify.
func (LogCheck) SchemaName() string { return "quill-log-verify" }

// StateCheck is a stored full state.
type StateCheck struct {
	Mark
	Name  string `json:"name"`
	Error string `json:"error,omitzero" jsonschema:"why it cannot be used; absent: it can"`
}

// Manual is quill manual --json.
type Manual struct {
	Chapters Rows[ManualChapter] `json:"chapters"`
	Pages    Rows[ManualPage]    `json:"pages" jsonschema:"manual pages"`
	Files    Rows[string]        `json:"files" jsonschema:"JSON Schemas, and files for monitoring"`
}

// SchemaName returns quill-manual.
func (Manual) SchemaName() string { return "quill-manual" }

// ManualChapter is a chapter of the manual.
type ManualChapter struct {
	Name    string `json:"name"`
	Title   string `json:"title"`
	Summary string `json:"summary"`
}

// ManualPage is a manual page.
type ManualPage struct {
	Name    string `json:"name"`
	Section int    `json:"section"`
	Summary string `json:"summary"`
}

// Attacks is quill attack --list --json.
type Attacks struct {
	Attacks Rows[Attack] `json:"attacks"`
}

// SchemaName returns quill-attack-list.
func (Attacks) SchemaName() string { return "quill-attack-list" }

// Attack is a way to misuse a cell.
type Attack struct {
	Name  string   `json:"name"`
	Roles []string `json:"roles" jsonschema:"whose credentials it has"`
	Short bool     `json:"short" jsonschema:"part of --short"`
	Local bool     `json:"needs_root"`
	Usage string   `json:"usage"`
}

// AttackReport is quill attack --json.
type AttackReport struct {
	Held     bool               `json:"held" jsonschema:"true: no bar was missed"`
	Idle     AttackLoad         `json:"idle" jsonschema:"the cell before the attacks"`
	All      *AttackLoad        `json:"all,omitzero" jsonschema:"while all attacks ran"`
	Attacks  Rows[AttackResult] `json:"attacks"`
	Bars     Rows[AttackBar]    `json:"bars" jsonschema:"what must hold"`
	Breaches []string           `json:"breaches" jsonschema:"files, secrets, jobs and settings of others that were read or changed, and lines of listings that were forged"`
	Crashes  []string           `json:"crashes" jsonschema:"daemons that ended, and those that did not when they were asked to"`
	InError  []string           `json:"queues_in_error" jsonschema:"queue instances in error afterwards"`
}

// SchemaName returns quill-attack.
func (AttackReport) SchemaName() string { return "quill-attack" }

// AttackLoad is what the honest user and qmaster saw for a time.
type AttackLoad struct {
	P50    float64 `json:"qsub_p50" jsonschema:"seconds that a qsub of the honest user took"`
	P99    float64 `json:"qsub_p99" jsonschema:"seconds"`
	Max    float64 `json:"qsub_max" jsonschema:"seconds"`
	Failed int     `json:"qsub_failed"`
	Memory int64   `json:"qmaster_memory" jsonschema:"bytes, peak"`
	Files  int     `json:"qmaster_files" jsonschema:"open descriptors, peak"`
}

// AttackResult is what an attack did.
type AttackResult struct {
	Name     string      `json:"name"`
	Done     int64       `json:"done"`
	Refused  int64       `json:"refused"`
	Breaches int         `json:"breaches"`
	Subjects int         `json:"subjects" jsonschema:"fields of requests, routes, listeners or actions of jobs that it attacked"`
	Failed   string      `json:"failed,omitzero" jsonschema:"why it could do nothing"`
	Alone    *AttackLoad `json:"alone,omitzero" jsonschema:"while it ran alone; absent: it did not"`
}

// AttackBar is what must hold.
type AttackBar struct {
	What   string `json:"what"`
	Seen   string `json:"seen"`
	Bound  string `json:"bound"`
	Held   bool   `json:"held"`
	Judged bool   `json:"judged" jsonschema:"false: a time with --untimed"`
}
