package main

import (
	"slices"
	"strings"
	"testing"

	"github.com/quill-grid/quill/tools/manual"
)

// TestExamples runs the examples of the pages of quill's commands, one after the other in one cell: that of quill-up(1)
// comes first and that of quill-down(1) last.
func TestExamples(t *testing.T) {
	t.Parallel()
	first, commands, last := "", "", ""
	for _, p := range manual.Pages() {
		if !strings.HasPrefix(p.Name, "quill-") {
			continue
		}
		into := &commands
		switch p.Name {
		case "quill-up":
			into = &first
		case "quill-down":
			into = &last
		}
		*into += examplesOf(p.Text).commands
	}
	runCommands(t, projectDir(t), first+commands+last)
}

// gridPrelude makes the cell in which the examples of Grid Engine's pages are run: programs, queues, a group and a user
// that they name. What would wait for its reader does not: an editor, and commands that follow.
const gridPrelude = `
quill up --hosts 9 --slots 18
for f in train simulate solve job.sh analyse.sh solve.sh; do printf '#!/bin/sh\n' >$f; chmod +x $f; done
mkdir logs
for q in batch.q gpu.q low.q; do qconf -sq all.q | sed "s/^qname .*/qname $q/" >$q; qconf -Aq $q; done
printf 'group_name @compute\nhostlist node1 node2\n' >compute; qconf -Ahgrp compute
printf 'name alice\noticket 0\nfshare 0\ndelete_time 0\ndefault_project NONE\n' >alice; qconf -Auser alice
vi() { :; }
params() { SGE_SINGLE_LINE=1 qconf -sconf | sed -e '/^#/d' -e "s/^reporting_params .*/reporting_params $1/" >global; qconf -Mconf global; }
held() { while test $(qsub -terse -h -b y -t 1-10 true | cut -d. -f1) -lt $1; do :; done; } # until job $1 waits
qevent() { case "$*" in *-to*) command qevent "$@" ;; *) command qevent "$@" & started="$! $started" ;; esac; }
written() { until grep -q $1 $SGE_ROOT/default/common/$2; do :; done; }
tail() { qsub -sync y -b y true >&2; written :job_log: reporting; shift; command tail -n +1 "$@"; }
`

// gridExamples are the pages of Grid Engine whose examples have files, by name, and those whose examples need more than
// gridPrelude has.
var gridExamples = map[string]struct {
	files  []string
	before string
}{
	"accounting": {
		before: "qsub -sync y -b y true; written . accounting; params old_accounting=false; qsub -sync y -b y true; written . accounting.jsonl; params old_accounting=true"},
	"bootstrap":          {files: []string{"bootstrap"}},
	"calendar_conf":      {files: []string{"night"}},
	"checkpoint":         {files: []string{"usr1"}},
	"project":            {before: "qconf -au $(id -un) lab1"},
	"qacct":              {before: "qconf -mattr sched_conf algorithm default; held 16; qsub -sync y -b y true"},
	"qalter":             {before: "held 32"},
	"sge_aliases":        {files: []string{"$SGE_ROOT/default/common/sge_aliases"}},
	"sge_request":        {files: []string{"$SGE_ROOT/default/common/sge_request", "$HOME/.sge_request"}},
	"sge_resource_quota": {files: []string{"quotas"}},
	"share_tree":         {files: []string{"tree"}},
}

// TestGridExamples runs the examples of the pages of Grid Engine's commands and files, one after the other in one cell,
// those of files first: they configure it. Every command must end with status 0.
func TestGridExamples(t *testing.T) {
	t.Parallel()
	all := manual.Pages()
	slices.SortStableFunc(all, func(a, b manual.Page) int { return b.Section - a.Section })
	commands, pages := "", 0
	for _, p := range all {
		if strings.HasPrefix(p.Name, "quill") {
			continue
		}
		e, known := examplesOf(p.Text), gridExamples[p.Name]
		if len(e.files) != len(known.files) {
			t.Errorf("%s: %d files of examples, of which %d have a name here", p.Name, len(e.files), len(known.files))
			continue
		}
		for i, text := range e.files {
			commands += "cat >" + known.files[i] + " <<'end of file'\n" + text + "end of file\n"
		}
		for _, line := range e.output {
			t.Errorf("%s: %q has no prompt", p.Name, line)
		}
		if e.commands != "" {
			commands += known.before + "\n" + e.commands
			pages++
		}
	}
	if pages < 20 {
		t.Errorf("commands of %d pages were run", pages)
	}
	runCommands(t, projectDir(t), gridPrelude+commands)
}

// examples are the indented blocks under EXAMPLE or EXAMPLES of a page: commands, which have a prompt and perhaps
// output after them, and the texts of files.
type examples struct {
	commands      string
	output, files []string
}

func examplesOf(page string) (e examples) {
	inside, file, continued := false, false, false
	for _, line := range strings.Split(sectionOf(page, "EXAMPLE")+sectionOf(page, "EXAMPLES"), "\n") {
		text, indented := strings.CutPrefix(line, "    ")
		command, prompt := strings.CutPrefix(text, "$ ")
		switch {
		case !indented:
			file = false
		case prompt || continued:
			e.commands += command + "\n"
		case !inside:
			file = true
			e.files = append(e.files, text+"\n")
		case file:
			e.files[len(e.files)-1] += text + "\n"
		default:
			e.output = append(e.output, text)
		}
		continued = (prompt || continued) && strings.HasSuffix(command, "\\")
		inside = indented
	}
	return e
}
