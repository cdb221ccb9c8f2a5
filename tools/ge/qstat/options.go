package qstat

import (
	"cmp"
	"strconv"

	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/opt"
	"github.com/quill-grid/quill/pkg/switches"
	"github.com/quill-grid/quill/pkg/view"
)

// options is what the words of a command line ask for, and of the files and
// variables that stand for words.
type options struct {
	said                     grid.Names // switches of the file or line that is being read
	queueWidth               int        // of queue names; 0: as wide as the longest
	load                     string     // what stands in the column of the load average
	full, resources, summary bool       // -f, -F, -g c
	names                    grid.Names
	perTask, perSlot         bool // -g d, -g t
	taskInfo                 bool // -t
	ext, urg, pri            bool
	requests, noBinding      bool // -r, -ncb
	noEmpty                  bool
	format                   switches.Format
	users                    grid.Names
	states                   view.JobStates
	selection                view.QueueFilter
	explain                  grid.QueueState
	byJob                    bool // -j
	jobs                     grid.Names
}

// queues reports whether jobs are shown below their queue instances.
func (o *options) queues() bool { return o.full || o.resources || o.explain != 0 }

var (
	addNames = switches.List(func(o *options) *grid.Names { return &o.names })
	addJobs  = switches.List(func(o *options) *grid.Names { return &o.jobs })
)

func formatOf(o *options) *switches.Format { return &o.format }

func command() *switches.Command[options] {
	sel := queueSwitches(func(o *options) *view.QueueFilter { return &o.selection })
	c := &switches.Command[options]{
		Name: "qstat", Usage: "[options]", Indent: 8, Column: 42,
		Defaults: "sge_qstat",
		Begin:    func(o *options) { o.said = nil; o.format.Begin() },
		Unknown: func(word string) error {
			return &switches.Error{Text: "invalid option argument \"" + word + "\"", Help: true}
		},
		Switches: []switches.Switch[options]{
			{Name: "ext", Help: "view additional attributes", Set: switches.Flag(func(o *options) *bool { return &o.ext })},
			{Name: "explain", Args: "a|c|A|E",
				Help: "show reason for queue c(onfiguration ambiguous), a(larm), suspend A(larm), E(rror) state",
				Take: switches.Word, Set: func(o *options, w []string) (err error) {
					o.explain, err = view.ParseQueueStates(w[0], "acAE")
					return err
				}},
			{Name: "f", Help: "full output", Set: switches.Flag(func(o *options) *bool { return &o.full })},
			{Name: "F", Args: "[resource_attributes]", Help: "full output and show (selected) resources of queue(s)",
				Take: switches.Maybe,
				Set: func(o *options, w []string) error {
					o.resources = true
					return addNames(o, w)
				}},
			switches.Fmt(formatOf),
			{Name: "g", Args: "c", Help: "display cluster queue summary", Take: switches.Word, Set: grouping},
			{Name: "g", Args: "d", Help: "display all job-array tasks (do not group)", Take: switches.Word, Set: grouping},
			{Name: "g", Args: "t", Help: "display all parallel job tasks (do not group)", Take: switches.Word, Set: grouping},
			{Name: "help", Help: "print this help"},
			{Name: "j", Args: "[job_identifier_list]", Help: "show scheduler job information", Take: switches.Any,
				Set: func(o *options, w []string) error {
					o.byJob = true
					return addJobs(o, w)
				}},
			sel["l"],
			{Name: "ne", Help: "hide empty queues", Set: switches.Flag(func(o *options) *bool { return &o.noEmpty })},
			{Name: "ncb", Help: "suppress additional binding specific parameters",
				Set: switches.Flag(func(o *options) *bool { return &o.noBinding })},
			sel["pe"], sel["q"], sel["qs"],
			{Name: "r", Help: "show requested resources of job(s)",
				Set: switches.Flag(func(o *options) *bool { return &o.requests })},
			{Name: "s", Args: "{p|r|s|z|hu|ho|hs|hd|hj|ha|h|a}", Take: switches.Word,
				Help: "show pending, running, suspended, zombie jobs,\njobs with a user/operator/system/array-dependency hold, \n" +
					"jobs with a start time in future or any combination only.\nh is an abbreviation for huhohshdhjha\na is an abbreviation for prsh",
				Set: (*options).addStates},
			{Name: "t", Help: "show task information (implicitly -g t)",
				Set: func(o *options, _ []string) error { o.perSlot, o.taskInfo = true, true; return nil }},
			{Name: "u", Args: "user_list", Help: "view jobs of this user list", Take: switches.Word,
				Set: switches.List(func(o *options) *grid.Names { return &o.users })},
			sel["U"],
			{Name: "urg", Help: "display job urgency information", Set: switches.Flag(func(o *options) *bool { return &o.urg })},
			{Name: "pri", Help: "display job priority information",
				Set: switches.Flag(func(o *options) *bool { return &o.pri })},
			switches.XML(formatOf),
		},
		Legend: queueLegend,
	}
	for i, s := range c.Switches {
		if s.Set != nil {
			c.Switches[i].Set = once(s.Name, s.Set)
		}
	}
	return c
}

func (o *options) addStates(w []string) error {
	s, ok := view.ParseJobStates(w[0])
	if !ok {
		return &switches.Error{Text: "invalid option argument \"-s " + w[0] + "\"", Help: true}
	}
	o.states |= s
	return nil
}

// once makes a switch that is given anew, in the user's file or in the command
// line, take the place of what was said before, sge_qstat(5).
func once(name string, set func(*options, []string) error) func(*options, []string) error {
	return func(o *options, w []string) error {
		if !o.said.Has(name) {
			o.said = append(o.said, name)
			o.forget(name)
		}
		return set(o, w)
	}
}

func (o *options) forget(name string) {
	switch name {
	case "F":
		o.names = nil
	case "g":
		o.summary, o.perTask, o.perSlot = false, false, o.taskInfo
	case "j":
		o.jobs = nil
	case "l":
		o.selection.Requests = nil
	case "pe":
		o.selection.PEs = nil
	case "q":
		o.selection.Queues = nil
	case "s":
		o.states = 0
	case "u":
		o.users = nil
	case "U":
		o.selection.Users = nil
	}
}

// complete reads the variables of qstat(1), and sets what no option has set.
func (o *options) complete(env opt.Env) {
	o.queueWidth, o.load = queueWidth, cmp.Or(env.Getenv("SGE_LOAD_AVG"), "load_avg")
	if text := env.Getenv("SGE_LONG_QNAMES"); text != "" {
		n, _ := strconv.Atoi(text)
		if o.queueWidth = max(n, 10); n == -1 {
			o.queueWidth = 0
		}
	}
	if o.states == 0 {
		o.states = view.JobsPresent
	}
}

// queueWidth is how much of a queue's name is shown unless SGE_LONG_QNAMES says
// otherwise.
const queueWidth = 30

func grouping(o *options, w []string) error {
	for _, l := range w[0] {
		switch l {
		case 'c':
			o.summary = true
		case 'd':
			o.perTask = true
		case 't':
			o.perSlot = true
		default:
			return &switches.Error{Text: "invalid option argument \"-g " + w[0] + "\"", Help: true}
		}
	}
	return nil
}
