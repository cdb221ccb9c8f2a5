package workload

import (
	"bufio"
	"compress/gzip"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// startsHeader is the first line of a file of start times.
const startsHeader = "job,start"

// WriteStarts writes the second at which each job started, in queue order.
func (r *Replay) WriteStarts(to io.Writer) error {
	w := bufio.NewWriter(to)
	fmt.Fprintln(w, startsHeader)
	for i, j := range r.Jobs {
		fmt.Fprintf(w, "%d,%d\n", j.Number, r.Starts[i])
	}
	return w.Flush()
}

// ReadStarts reads what WriteStarts writes, compressed with gzip: start times
// by job number.
func ReadStarts(from io.Reader) (map[int64]int64, error) {
	unpacked, err := gzip.NewReader(from)
	if err != nil {
		return nil, err
	}
	starts := map[int64]int64{}
	lines := bufio.NewScanner(unpacked)
	for n := 1; lines.Scan(); n++ {
		if n == 1 && lines.Text() == startsHeader {
			continue
		}
		job, start, _ := strings.Cut(lines.Text(), ",")
		number, bad := strconv.ParseInt(job, 10, 64)
		second, worse := strconv.ParseInt(start, 10, 64)
		if bad != nil || worse != nil {
			return nil, fmt.Errorf("line %d: %q is no start time", n, lines.Text())
		}
		starts[number] = second
	}
	return starts, lines.Err()
}
