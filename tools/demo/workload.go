package demo

import (
	"bufio"
	_ "embed"
	"fmt"
	"strconv"
	"strings"
	"time"
)

//go:embed kth-sp2.swf
var log string

// job is a line of a log in the Standard Workload Format.
type job struct {
	number int
	submit time.Duration // after the first
	run    time.Duration
	slots  int
}

// gapMax is the longest time in the log in which nothing is submitted that is
// shown as it was; longer ones are cut to it.
const gapMax = 6 * time.Hour

// workload reads the first n jobs of the log and squeezes its time so that the submissions take
// the given span.
func workload(span time.Duration, n int) ([]job, error) {
	var jobs []job
	var before, last float64
	for lines := bufio.NewScanner(strings.NewReader(log)); len(jobs) < n && lines.Scan(); {
		line := strings.TrimSpace(lines.Text())
		if line == "" || line[0] == ';' {
			continue
		}
		f, err := numbers(line)
		if err != nil {
			return nil, err
		}
		slots := f[7]
		if slots <= 0 {
			slots = f[4]
		}
		run := min(f[3], f[8])
		if len(jobs) > 0 {
			last += min(f[1]-before, gapMax.Seconds())
		}
		before = f[1]
		jobs = append(jobs, job{
			number: int(f[0]), slots: int(slots),
			submit: time.Duration(last * float64(time.Second)), run: time.Duration(run * float64(time.Second)),
		})
	}
	squeeze := span.Seconds() / last
	for i := range jobs {
		jobs[i].submit = time.Duration(float64(jobs[i].submit) * squeeze)
		jobs[i].run = time.Duration(float64(jobs[i].run) * squeeze)
	}
	return jobs, nil
}

// numbers reads the 18 fields of a line.
func numbers(line string) ([]float64, error) {
	words := strings.Fields(line)
	if len(words) != 18 {
		return nil, fmt.Errorf("workload: %d fields in %q, not 18", len(words), line)
	}
	f := make([]float64, len(words))
	for i, w := range words {
		v, err := strconv.ParseFloat(w, 64)
		if err != nil {
			return nil, fmt.Errorf("workload: %w", err)
		}
		f[i] = v
	}
	return f, nil
}
