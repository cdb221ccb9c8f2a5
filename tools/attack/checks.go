package attack

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"unicode"

	"github.com/quill-grid/quill/pkg/bus"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/tools/attack/attacker"
)

// What always holds, whatever is attacked. Each check compares the cell with what it was, or with what no cell may
// show: it does not know the attacks.

// listingsOf are what administrators read: command lines, JOB stands for a number of a job of the attacker.
var listingsOf = [][]string{
	{"qstat", "-u", "*"}, {"qstat", "-f", "-u", "*"}, {"qstat", "-r", "-u", "*"}, {"qstat", "-j", "JOB"},
	{"quill", "why", "JOB"}, {"qstat", "-ext", "-u", "*"},
	{"qhost", "-q", "-j"}, {"qrstat", "-u", "*"}, {"qacct", "-j"}, {"qacct", "-o"}, {"quill", "proposals", "--all"},
	{"quill", "token", "list"}, {"qconf", "-suserl"},
	{"qconf", "-secl"}, {"qquota", "-u", "*"}, {"qselect"},
}

// listedJobs is how many of the attacker's jobs are listed one by one.
const listedJobs = 60

// verifiedFile is what a verifier of jobs was sent: lines of a protocol, which no person reads.
const verifiedFile = "the lines that a verifier of jobs reads"

// lines reports lines of listings and files that a user has made up, and control characters in them.
func (d *director) lines(ctx context.Context) (breaches []string) {
	found := map[string]bool{}
	look := func(where string, text []byte) {
		for line := range strings.Lines(string(text)) {
			line = strings.TrimRight(line, "\n")
			if at := strings.TrimSpace(line); strings.HasPrefix(at, attacker.Forged) {
				from, _, _ := strings.Cut(strings.TrimPrefix(at, attacker.Forged), strings.TrimSpace(attacker.Forged))
				found[fmt.Sprintf("a line of its own in %s: from %s", where, strings.TrimRight(from, "?\r"))] = true
			}
			if where != verifiedFile && strings.ContainsFunc(line, func(r rune) bool {
				return r != '\t' && unicode.IsControl(r)
			}) && strings.Contains(line, strings.TrimSpace(attacker.Forged)) {
				found["a control character in "+where] = true
			}
		}
	}
	jobs := d.attackersJobs(ctx)
	for _, words := range listingsOf {
		some := []uint32{0}
		if slices.Contains(words, "JOB") {
			some = jobs
		}
		texts := make(chan []byte, len(some))
		attacker.Workers(4, func(w int) error {
			for i := w; i < len(some); i += 4 {
				args := slices.Clone(words[1:])
				for n := range args {
					args[n] = strings.ReplaceAll(args[n], "JOB", fmt.Sprint(some[i]))
				}
				listing, cancel := context.WithTimeout(ctx, attacker.CommandMax)
				out, _ := d.s.command(listing, nil, words[0], args...).Output()
				cancel()
				texts <- out
			}
			return nil
		})
		close(texts)
		for text := range texts {
			look(strings.Join(words, " "), text)
		}
	}
	files := []string{d.s.where.Accounting(), d.s.where.Reporting(), d.c.mailed}
	for _, daemon := range d.s.daemons {
		files = append(files, daemon.log)
	}
	for _, file := range files {
		text, _ := os.ReadFile(file)
		look("file "+attacker.Pattern(filepath.Base(file)), text)
	}
	verified, _ := os.ReadFile(d.c.verified)
	look(verifiedFile, verified)
	return slices.Sorted(maps.Keys(found))
}

// attackersJobs are some of the attacker's jobs, those first that the attack named.
func (d *director) attackersJobs(ctx context.Context) (ids []uint32) {
	for _, f := range d.fields {
		f.mu.Lock()
		ids = append(ids, f.jobs...)
		f.mu.Unlock()
	}
	if len(ids) > 0 {
		step := max(1, len(ids)/listedJobs)
		var some []uint32
		for i := 0; i < len(ids); i += step {
			some = append(some, ids[i])
		}
		return some
	}
	d.s.each(ctx, grid.KindJob, func(o grid.Object) {
		if j := o.(*grid.Job); j.Owner == d.s.attacker.name && len(ids) < 20 {
			ids = append(ids, j.ID)
		}
	})
	return ids
}

var versions = regexp.MustCompile(`,?"Version":[0-9]+`)

// configuration is each configuration object of the cell, by kind and name.
func (d *director) configuration(ctx context.Context) (map[string]string, error) {
	all := map[string]string{}
	for _, k := range grid.Kinds {
		if !k.Configured() || k.Kind == grid.KindUser { // users are made by their first submission
			continue
		}
		err := d.s.each(ctx, k.Kind, func(o grid.Object) {
			text, err := json.Marshal(o)
			if err != nil {
				text = fmt.Appendf(nil, "%+v", o)
			}
			host := d.s.names[bus.Host] // which joins the cell with its key
			if o.Key().Name != host {
				all[k.Name+" "+o.Key().String()] = strings.NewReplacer(`,"`+host+`"`, "", `"`+host+`",`, "").Replace(
					versions.ReplaceAllString(string(text), ""))
			}
		})
		if err != nil {
			return nil, err
		}
	}
	return all, nil
}

// changes reports what is configured otherwise than before.
func (d *director) changes(ctx context.Context) (breaches []string) {
	now, err := d.configuration(ctx)
	if err != nil {
		return []string{"the configuration cannot be read: " + err.Error()}
	}
	for name := range now {
		if _, was := d.configured[name]; !was {
			breaches = append(breaches, "made by a user: "+name)
		}
	}
	for name, text := range d.configured {
		switch {
		case now[name] == "":
			breaches = append(breaches, "deleted by a user: "+name)
		case now[name] != text:
			breaches = append(breaches, "changed by a user: "+name)
		}
	}
	slices.Sort(breaches)
	return breaches
}

// cpuMax is how many seconds of CPU time a job that sleeps may have used.
const cpuMax = 1.5

// sleeping reports what became of the honest user's jobs that only sleep: what others do must not be charged to them.
func (d *director) sleeping(ctx context.Context) (breaches []string) {
	d.s.each(ctx, grid.KindJATask, func(o grid.Object) {
		if t := o.(*grid.JATask); slices.Contains(d.report.sleepers, t.Job) &&
			(t.Usage.CPU > cpuMax || t.Usage.MaxVMem > 1<<30) {
			breaches = append(breaches, fmt.Sprintf("a job that sleeps is charged with %.1f s of CPU time and %.0f MiB",
				t.Usage.CPU, t.Usage.MaxVMem/(1<<20)))
		}
	})
	d.s.each(ctx, grid.KindJob, func(o grid.Object) {
		if j := o.(*grid.Job); slices.Contains(d.report.sleepers, j.ID) &&
			(j.Name != "sleeper" || j.Version != d.versions[j.ID] || len(j.UserHold)+len(j.OperHold)+len(j.SysHold) > 0) {
			breaches = append(breaches, fmt.Sprintf("a job of %s was changed", d.s.honest.name))
		}
	})
	slices.Sort(breaches)
	return slices.Compact(breaches)
}

// survivors returns how many processes of the attacker's jobs there are.
func (d *director) survivors() (n int) {
	all, _ := filepath.Glob("/proc/[0-9]*")
	for _, p := range all {
		words, _ := os.ReadFile(filepath.Join(p, "cmdline"))
		if bytes.Contains(words, []byte("\x00"+d.s.orphanTime)) {
			n++
		}
	}
	return n
}

// killSurvivors ends them.
func (s *site) killSurvivors() {
	all, _ := filepath.Glob("/proc/[0-9]*")
	for _, p := range all {
		words, _ := os.ReadFile(filepath.Join(p, "cmdline"))
		if bytes.Contains(words, []byte("\x00"+s.orphanTime)) {
			if pid, err := strconv.Atoi(filepath.Base(p)); err == nil {
				syscall.Kill(pid, syscall.SIGKILL)
			}
		}
	}
}

// again has the administrator submit a job of the attacker again, held, which makes it the administrator's: the answer
// must name whose script it is.
func (d *director) again(ctx context.Context) (breaches []string) {
	jobs := d.attackersJobs(ctx)
	if len(jobs) == 0 || !d.s.root {
		return nil
	}
	out, err := d.s.command(ctx, nil, "qresub", "-h", "u", fmt.Sprint(jobs[0])).CombinedOutput()
	if err == nil && !strings.Contains(string(out), d.s.attacker.name) {
		breaches = append(breaches, "a job of a user was submitted again and belongs to root, without a word")
	}
	return breaches
}
