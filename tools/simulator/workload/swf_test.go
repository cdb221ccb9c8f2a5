package workload

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
)

// TestLogs reads logs: `read` prints what a log says, `usable` which of its
// jobs count on a machine.
func TestLogs(t *testing.T) {
	datadriven.RunTest(t, "testdata/logs.txt", func(t *testing.T, d *datadriven.TestData) string {
		log, err := ReadLog(strings.NewReader(d.Input))
		if err != nil {
			return "error: " + err.Error() + "\n"
		}
		packed := &bytes.Buffer{}
		w := gzip.NewWriter(packed)
		fmt.Fprint(w, d.Input)
		w.Close()
		if again, err := ReadLog(packed); err != nil || fmt.Sprint(again) != fmt.Sprint(log) {
			t.Fatalf("compressed it is %v, %v", again, err)
		}
		var out strings.Builder
		switch d.Cmd {
		case "read":
			fmt.Fprintf(&out, "MaxProcs=%q Note=%q\n", log.Field("MaxProcs"), log.Field("Note"))
			for _, j := range log.Jobs {
				fmt.Fprintf(&out, "%+v\n", j)
			}
		case "usable":
			var m Machine
			d.ScanArgs(t, "processors", &m.Processors)
			m.RunAsEstimate = d.HasArg("noest-run")
			jobs, dropped := log.Usable(m)
			for _, j := range jobs {
				fmt.Fprintf(&out, "job %d submitted %d runs %d of %d on %d\n", j.Number, j.Submit, j.Run, j.Estimate, j.Requested)
			}
			fmt.Fprintf(&out, "dropped %+v\n", dropped)
		}
		return out.String()
	})
}

// FuzzReadLog reads anything without falling over.
func FuzzReadLog(f *testing.F) {
	f.Add([]byte("; MaxProcs: 3\n1 0 -1 5 1 -1 -1 1 9 -1 1 1 1 1 1 1 -1 -1\n"))
	f.Add([]byte{0x1f, 0x8b, 8})
	f.Fuzz(func(t *testing.T, data []byte) {
		log, err := ReadLog(bytes.NewReader(data))
		if err == nil && len(log.Jobs) == 0 {
			t.Fatal("no job and no error")
		}
	})
}
