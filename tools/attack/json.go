package attack

import (
	"slices"

	"github.com/quill-grid/quill/pkg/document"
	"github.com/quill-grid/quill/tools/attack/attacker"
)

// listed returns what --list prints.
func listed() document.Attacks {
	var rows []document.Attack
	for _, a := range attacker.Attacks {
		row := document.Attack{Name: a.Name, Short: a.Short, Local: a.Local, Usage: a.Usage}
		for _, r := range a.Roles {
			row.Roles = append(row.Roles, string(r))
		}
		rows = append(rows, row)
	}
	return document.Attacks{Attacks: document.RowsOf(rows)}
}

func loadOf(q quantiles, u usage) document.AttackLoad {
	return document.AttackLoad{P50: q.p50.Seconds(), P99: q.p99.Seconds(), Max: q.max.Seconds(), Failed: q.failed,
		Memory: u.memory, Files: u.files}
}

// document returns the report.
func (r *outcome) document() document.AttackReport {
	texts := func(list []string) []string { return append([]string{}, list...) }
	out := document.AttackReport{Held: true, Idle: loadOf(r.idle[qsubService], r.idleUse[qmasterName]),
		Breaches: texts(r.allBreaches()), Crashes: texts(slices.Concat(r.crashes, r.late)), InError: texts(r.inError)}
	if r.all.n > 0 {
		all := loadOf(r.all, r.allPeak)
		out.All = &all
	}
	var attacks []document.AttackResult
	for _, f := range r.fields {
		row := document.AttackResult{Name: f.name(), Done: f.done, Refused: f.refused, Breaches: len(f.breaches),
			Subjects: len(f.covered)}
		if f.done+f.refused == 0 {
			row.Failed = f.failed
		}
		if f.alone.qsub.n > 0 {
			alone := loadOf(f.alone.qsub, f.alone.peak)
			row.Alone = &alone
		}
		attacks = append(attacks, row)
	}
	var bars []document.AttackBar
	for _, b := range r.bars() {
		judged := !b.timed || !r.untimed
		out.Held = out.Held && (b.held || !judged)
		bars = append(bars, document.AttackBar{What: b.what, Seen: b.seen, Bound: b.bound, Held: b.held, Judged: judged})
	}
	out.Attacks, out.Bars = document.RowsOf(attacks), document.RowsOf(bars)
	return out
}
