package submit

import (
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/switches"
)

// jobSwitch is a row of the table that qsub, qalter, qrsh and qlogin share. Field of
// lists the commands that have the row; empty: all.
type jobSwitch struct {
	of string
	switches.Switch[Submission]
}

// jobSwitches is the table of one of these commands.
func jobSwitches(command string) []switches.Switch[Submission] {
	var table []switches.Switch[Submission]
	for _, row := range submitTable {
		if row.of == "" || slices.Contains(strings.Fields(row.of), command) {
			table = append(table, row.Switch)
		}
	}
	return table
}

type sw = switches.Switch[Submission]

// submitTable is submit(1), in the order of help.
var submitTable = []jobSwitch{
	{"qsub qalter", sw{Name: "a", Args: "date_time", Help: "request a start time", Take: switches.One,
		Set: func(s *Submission, w []string) (err error) {
			s.Job.ExecTime, err = s.dateTime("a", w[0])
			return err
		}}},
	{"", sw{Name: "ac", Args: "context_list", Help: "add context variable(s)", Take: switches.One,
		Missing: "a context_list list argument", Set: setContext("ac")}},
	{"", sw{Name: "ar", Args: "ar_id", Help: "bind job to advance reservation", Take: switches.One,
		Set: func(s *Submission, w []string) (err error) {
			s.Job.AR, err = parseCount(w[0], "invalid advance reservation id, must be an unsigned integer")
			return err
		}}},
	{"", sw{Name: "A", Args: "account_string", Help: "account string in accounting record", Take: switches.One,
		Set: switches.Text(func(s *Submission) *string { return &s.Job.Account })}},
	{"qsub qrsh", sw{Name: "b", Args: "y[es]|n[o]", Help: "handle command as binary", Take: switches.One,
		Set: yesNo("b", func(s *Submission, yes bool) { s.Job.Binary = yes })}},
	unitsSwitch("bamount", "number", "bind to this many units per slot or host"),
	unitsSwitch("bfilter", "topology", "do not bind to what is in lower case"),
	{"", sw{Name: "binding", Args: "[env|pe|set] exp|lin|str", Help: "binds job to processor cores",
		Take: takeBinding, Set: func(s *Submission, w []string) error { return s.setBinding(w) }}},
	unitsSwitch("binstance", "env|pe|set", "who binds the job to its units"),
	{"", sw{Name: "bsort", Take: switches.One, Refused: "units near each other and near the job's instances are chosen"}},
	{"", sw{Name: "bstart", Take: switches.One, Refused: "-bfilter excludes units"}},
	{"", sw{Name: "bstop", Take: switches.One, Refused: "-bfilter excludes units"}},
	unitsSwitch("bstrategy", "pack", "how the units are chosen"),
	unitsSwitch("btype", "slot|host", "what the number of -bamount is for"),
	unitsSwitch("bunit", "T|C|E|S|X|Y|N|...", "what -bamount counts"),
	{"qsub qalter", sw{Name: "c", Args: "ckpt_selector", Help: "define type of checkpointing for job", Take: switches.One,
		Set: func(s *Submission, w []string) error { return s.setOccasions(w[0]) }}},
	{"qsub qalter", sw{Name: "ckpt", Args: "ckpt-name", Help: "request checkpoint method", Take: switches.One,
		Set: switches.Text(func(s *Submission) *string { return &s.Job.Ckpt })}},
	{"qsub qrsh qlogin", sw{Name: "clear", Help: "skip previous definitions for job",
		Set: func(s *Submission, w []string) error { s.clearAll(); return nil }}},
	{"qsub qalter qrsh", sw{Name: "cwd", Help: "use current working directory",
		Set: func(s *Submission, w []string) error {
			if s.origin.Dir == "" { // it has been removed
				return errors.New(NoDirectory)
			}
			dir, err := s.aliasedDir(s.origin.Dir)
			s.Job.Spec.Cwd = dir
			return err
		}}},
	{"qsub qrsh", sw{Name: "C", Args: "directive_prefix", Help: "define command prefix for job script", Take: switches.One,
		Set: func(s *Submission, w []string) error {
			s.Prefix, s.Job.Spec.CommandPrefix = w[0], w[0]
			return nil
		}}},
	{"", sw{Name: "dc", Args: "simple_context_list", Help: "delete context variable(s)", Take: switches.One,
		Missing: "a simple_context_list list argument", Set: setContext("dc")}},
	{"qrsh", sw{Name: "display", Args: "display_specifier", Help: "display to use for the command", Take: switches.One,
		Set: switches.Text(func(s *Submission) *string { return &s.display })}},
	{"", sw{Name: "dl", Args: "date_time", Help: "request a deadline initiation time", Take: switches.One,
		Set: func(s *Submission, w []string) (err error) {
			s.Job.Deadline, err = s.dateTime("dl", w[0])
			return err
		}}},
	{"qsub qalter", sw{Name: "e", Args: "path_list", Help: "specify standard error stream path(s)", Take: switches.One,
		Set: pathsSetter("stderr path", "e", func(s *Submission) *grid.Names { return &s.Job.Spec.Stderr })}},
	{"qsub qrsh", sw{Name: "h", Help: "place user hold on job",
		Set: switches.Flag(func(s *Submission) *bool { return &s.hold })}},
	{"qalter", sw{Name: "h", Args: "hold_list", Help: "assign holds for jobs or tasks", Take: switches.One,
		Set: func(s *Submission, w []string) error { return s.setHolds(w[0]) }}},
	{"", sw{Name: "hard", Help: "consider following requests \"hard\"",
		Set: func(s *Submission, w []string) error { s.soft = false; return nil }}},
	{"", sw{Name: "help", Help: "print this help"}},
	{"qsub qalter qrsh", sw{Name: "hold_jid", Args: "job_identifier_list", Help: "define jobnet interdependencies",
		Take: switches.One,
		Set:  wordsSetter("jid_hold list", "hold_jid", func(s *Submission) *grid.Names { return &s.Job.PredecessorReq })}},
	{"qsub qalter qrsh", sw{Name: "hold_jid_ad", Args: "job_identifier_list",
		Help: "define jobnet array interdependencies", Take: switches.One,
		Set: wordsSetter("jid_hold list", "hold_jid_ad",
			func(s *Submission) *grid.Names { return &s.Job.ArrayPredecessorReq })}},
	{"qsub qalter", sw{Name: "i", Args: "file_list", Help: "specify standard input stream file(s)", Take: switches.One,
		Set: pathsSetter("stdin path", "i", func(s *Submission) *grid.Names { return &s.Job.Spec.Stdin })}},
	{"qrsh", sw{Name: "inherit", Help: "start a task of the parallel job that JOB_ID names",
		Set: switches.Flag(func(s *Submission) *bool { return &s.Inherit })}},
	{"", sw{Name: "j", Args: "y[es]|n[o]", Help: "merge stdout and stderr stream of job", Take: switches.One,
		Set: yesNo("j", func(s *Submission, yes bool) { s.Job.Spec.Merge = yes })}},
	{"", sw{Name: "js", Args: "job_share", Help: "share tree or functional job share", Take: switches.One,
		Set: func(s *Submission, w []string) (err error) {
			s.Job.JobShare, err = parseCount(w[0], "invalid jobshare, must be an unsigned integer")
			return err
		}}},
	{"qsub qrsh qlogin", sw{Name: "jsv", Args: "jsv_url", Help: "job submission verification script to be used",
		Take: switches.One, Set: func(s *Submission, w []string) error { return s.setVerifier(w[0]) }}},
	{"", sw{Name: "l", Args: "resource_list", Help: "request the given resources", Take: switches.One,
		Set: func(s *Submission, w []string) error {
			list, err := s.resourceList()
			if err != nil {
				return err
			}
			requests, ok := switches.Requests(*list, w[0])
			if !ok {
				return switches.Invalidf("Wrong resource list format %q specified to -l option", w[0])
			}
			*list = requests
			return nil
		}}},
	{"", sw{Name: "m", Args: "mail_options", Help: "define mail notification events", Take: switches.One,
		Set: func(s *Submission, w []string) error { return s.mailOptions(w[0]) }}},
	{"", sw{Name: "masterq", Args: "wc_queue_list", Help: "bind master task to queue(s)", Take: switches.One,
		Missing: "queue list argument",
		Set:     wordsSetter("queue list", "masterq", func(s *Submission) *grid.Names { return &s.Job.MasterQueues })}},
	{"", sw{Name: "M", Args: "mail_list", Help: "notify these e-mail addresses", Take: switches.One,
		Set: wordsSetter("mail list", "M", func(s *Submission) *grid.Names { return &s.Job.Spec.MailTo })}},
	{"", sw{Name: "N", Args: "name", Help: "specify job name", Take: switches.One,
		Set: func(s *Submission, w []string) error {
			if strings.Contains(w[0], "/") {
				return switches.Errorf("argument to -N option must not contain / ")
			}
			s.Job.Name = w[0]
			return nil
		}}},
	{"qrsh", sw{Name: "noshell", Help: "start command without wrapping <loginshell> -c",
		Set: switches.Flag(func(s *Submission) *bool { return &s.Job.Spec.NoShell })}},
	{"qrsh", sw{Name: "nostdin", Help: "suppress stdin for rsh",
		Set: switches.Flag(func(s *Submission) *bool { return &s.NoStdin })}},
	{"qsub qalter qrsh", sw{Name: "notify", Help: "notify job before killing/suspending it",
		Set: switches.Flag(func(s *Submission) *bool { return &s.Job.Notify })}},
	{"qsub qrsh qlogin", sw{Name: "now", Args: "y[es]|n[o]", Help: "start job immediately or not at all",
		Take: switches.One,
		Set:  yesNo("now", func(s *Submission, yes bool) { s.Job.Immediate = yes })}},
	{"qsub qalter", sw{Name: "o", Args: "path_list", Help: "specify standard output stream path(s)", Take: switches.One,
		Set: pathsSetter("stdout path", "o", func(s *Submission) *grid.Names { return &s.Job.Spec.Stdout })}},
	{"qalter", sw{Name: "ot", Args: "tickets", Help: "set job's override tickets", Take: switches.One,
		Set: func(s *Submission, w []string) (err error) {
			s.Job.OverrideTickets, err = parseCount(w[0], "invalid override tickets, must be an unsigned integer")
			return err
		}}},
	{"qsub qrsh qlogin", sw{Name: "ot", Refused: "override tickets are set by qalter"}},
	{"", sw{Name: "P", Args: "project_name", Help: "set job's project", Take: switches.One,
		Set: switches.Text(func(s *Submission) *string { return &s.Job.Project })}},
	{"", sw{Name: "p", Args: "priority", Help: "define job's relative priority", Take: switches.One,
		Set: func(s *Submission, w []string) error {
			n, err := strconv.Atoi(w[0])
			if err != nil || n < -1023 || n > 1024 {
				return switches.Invalidf("invalid priority %q.  Must be an integer from -1023 to 1024", w[0])
			}
			s.Job.Priority = int16(n)
			return nil
		}}},
	{"", sw{Name: "pe", Args: "wc_pe_name slot_range", Help: "request slot range for parallel jobs", Take: switches.Two,
		Missing: "range as 2nd argument",
		Set: func(s *Submission, w []string) error {
			slots, err := switches.SlotRanges(w[1])
			s.Job.PE, s.Job.PERange = w[0], slots
			return err
		}}},
	{"qsub", sw{Name: "pty", Args: "y[es]|n[o]", Help: "start job in a pty", Take: switches.One, Set: noTerminal}},
	{"qrsh qlogin", sw{Name: "pty", Args: "y[es]|n[o]", Help: "start job in a pty", Take: switches.One,
		Set: yesNo("pty", func(s *Submission, yes bool) { s.pty = &yes })}},
	{"", sw{Name: "q", Args: "wc_queue_list", Help: "bind job to queue(s)", Take: switches.One,
		Missing: "queue list argument",
		Set: func(s *Submission, w []string) error {
			list, err := s.queueList()
			if err != nil {
				return err
			}
			return wordsSetter("queue list", "q", func(*Submission) *grid.Names { return list })(s, w)
		}}},
	{"", sw{Name: "R", Args: "y[es]|n[o]", Help: "reservation desired", Take: switches.One,
		Set: yesNo("R", func(s *Submission, yes bool) { s.Job.Reserve = yes })}},
	{"qsub qalter", sw{Name: "r", Args: "y[es]|n[o]", Help: "define job as (not) restartable", Take: switches.One,
		Set: yesNo("r", func(s *Submission, yes bool) {
			s.Job.Restart = grid.RestartNo
			if yes {
				s.Job.Restart = grid.RestartYes
			}
		})}},
	{"", sw{Name: "sc", Args: "context_list", Help: "set job context (replaces old context)", Take: switches.One,
		Missing: "context list argument", Set: setContext("sc")}},
	{"qsub", sw{Name: "shell", Args: "y[es]|n[o]", Help: "start command with or without wrapping <loginshell> -c",
		Take: switches.One,
		Set:  yesNo("shell", func(s *Submission, yes bool) { s.Job.Spec.NoShell = !yes })}},
	{"", sw{Name: "scope", Args: "global|master|slave",
		Help: "the following -l and -q are for all tasks, the master task or the others", Take: switches.One,
		Set: func(s *Submission, w []string) error {
			scope, ok := grid.ParseTaskScope(w[0])
			if !ok {
				return switches.Invalidf("invalid option argument \"-scope %s\": it is global, master or slave", w[0])
			}
			s.scope = scope
			return nil
		}}},
	{"", sw{Name: "soft", Help: "consider following requests as soft",
		Set: switches.Flag(func(s *Submission) *bool { return &s.soft })}},
	{"qsub", sw{Name: "sync", Args: "y[es]|n[o]", Help: "wait for job to end and return exit code", Take: switches.One,
		Set: yesNo("sync", func(s *Submission, yes bool) { s.Sync = yes })}},
	{"qsub qalter", sw{Name: "S", Args: "path_list", Help: "command interpreter to be used", Take: switches.One,
		Missing: "path_name argument",
		Set:     pathsSetter("shell", "S", func(s *Submission) *grid.Names { return &s.Job.Spec.Shell })}},
	{"qalter", sw{Name: "t", Take: switches.One, Missing: "a list of task id ranges",
		Set: func(s *Submission, w []string) error { return switches.RestrictTasks(s.Jobs.Refs, w[0]) }}},
	{"qsub", sw{Name: "t", Args: "task_id_range", Help: "create a job-array with these tasks", Take: switches.One,
		Missing: "a list of task id ranges",
		Set:     func(s *Submission, w []string) error { return s.taskRange(w[0]) }}},
	{"qsub qalter", sw{Name: "tc", Args: "max_running_tasks",
		Help: "throttle the number of concurrent tasks (experimental)", Take: switches.One,
		Set: func(s *Submission, w []string) (err error) {
			n, err := strconv.ParseUint(w[0], 10, 32)
			if err != nil {
				return switches.Invalidf("invalid task concurrency number %q. Must be an integer greater or equal to 0.", w[0])
			}
			s.Job.Concurrency = uint32(n)
			return nil
		}}},
	{"qsub qalter", switches.Fmt(func(s *Submission) *switches.Format { return &s.Format })},
	{"qsub", sw{Name: "terse", Help: "tersed output, print only the job-id",
		Set: switches.Flag(func(s *Submission) *bool { return &s.Terse })}},
	{"qsub", sw{Name: "u", Take: switches.One, Missing: "a list usernames", Set: noUser}},
	{"qalter",
		sw{Name: "u", Args: "user_list", Help: "specify a list of users\n(not allowed in combination with job_task_list)",
			Take: switches.One,
			Set:  wordsSetter("user list", "u", func(s *Submission) *grid.Names { return &s.Jobs.Users })}},
	{"qsub qalter qrsh", sw{Name: "v", Args: "variable_list", Help: "export these environment variables",
		Take: switches.One, Missing: "variable list argument",
		Set: func(s *Submission, w []string) error { return s.setVariables(w[0]) }}},
	{"qrsh qlogin", sw{Name: "verbose", Help: "print how the job comes to run",
		Set: switches.Flag(func(s *Submission) *bool { return &s.Verbose })}},
	{"qalter", sw{Name: "verify", Refused: "nothing is submitted by qalter"}},
	{"qsub qrsh qlogin", sw{Name: "verify", Help: "do not submit, just verify",
		Set: switches.Flag(func(s *Submission) *bool { return &s.Verify })}},
	{"qsub qalter qrsh", sw{Name: "V", Help: "export all environment variables",
		Set: switches.Flag(func(s *Submission) *bool { return &s.environ })}},
	{"", sw{Name: "w", Args: "e|w|n|v|p", Help: "verify mode (error|warning|none|just verify|poke) for jobs",
		Take: switches.One,
		Set: func(s *Submission, w []string) error {
			if !slices.Contains([]string{"e", "w", "n", "v", "p"}, w[0]) {
				return switches.Invalidf("invalid option argument \"-w %s\"", w[0])
			}
			s.Job.Spec.Verify = w[0]
			return nil
		}}},
	{"qsub qalter qrsh", sw{Name: "wd", Args: "working_directory", Help: "use working_directory", Take: switches.One,
		Set: switches.Text(func(s *Submission) *string { return &s.Job.Spec.Cwd })}},
	{"qalter", sw{Name: "when", Args: "on_reschedule|now",
		Help: "when -l takes effect: for tasks that start later, or for running ones, too", Take: switches.One,
		Set: func(s *Submission, w []string) error {
			if w[0] != "now" && w[0] != "on_reschedule" {
				return switches.Invalidf("invalid option argument \"-when %s\": it takes now or on_reschedule", w[0])
			}
			s.now = w[0] == "now"
			return nil
		}}},
	{"qsub qalter qrsh qlogin", sw{Name: "@", Args: "file", Help: "read commandline input from file", Take: switches.One,
		Missing: "file argument",
		Set:     func(s *Submission, w []string) error { return s.optionFile(w[0]) }}},
}
