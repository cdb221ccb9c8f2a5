package accounting

// Failure is the text of a failed code, as sge_status(5) lists and qacct
// prints them.
func Failure(code uint32) string {
	if text, ok := failures[code]; ok {
		return text
	}
	return "invalid execution state"
}

var failures = map[uint32]string{
	0:   "no failure",
	1:   "assumedly before job",
	3:   "before writing config",
	4:   "before writing PID",
	6:   "setting processor set",
	7:   "before prolog",
	8:   "in prolog",
	9:   "before pestart",
	10:  "in pestart",
	11:  "before job",
	12:  "before pestop",
	13:  "in pestop",
	14:  "before epilog",
	15:  "in epilog",
	16:  "releasing processor set",
	17:  "through signal",
	18:  "shepherd returned error",
	19:  "before writing exit_status",
	20:  "found unexpected error file",
	21:  "in recognizing job",
	24:  "migrating",
	25:  "rescheduling",
	26:  "opening input/output file",
	27:  "searching requested shell",
	28:  "changing into working directory",
	29:  "AFS setup",
	30:  "application error returned",
	36:  "checking configured daemons",
	37:  "qmaster enforced h_rt, h_cpu, or h_vmem limit",
	38:  "adding supplementary group",
	100: "assumedly after job",
}
