package plan

import "github.com/quill-grid/quill/pkg/report"

// LimitsChange gives an attempt that runs other limits. They are carried out whole or not at all.
type LimitsChange struct {
	Attempt report.Attempt
	Limits  Limits // with the new Version

	// Limits of the control group of the job on this host, as in Cgroup.
	MemoryHigh, MemoryMax, PidsMax uint64

	// Anyway: what the job uses now is no reason to refuse it.
	Anyway bool
}

// Changed is the shepherd's answer to a LimitsChange. Refused is why nothing was changed; "": the attempt has the
// limits. Version 0: the shepherd was not reached.
type Changed struct {
	Attempt report.Attempt
	Version uint32
	Refused string
}
