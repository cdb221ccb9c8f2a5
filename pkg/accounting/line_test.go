package accounting

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/quill-grid/quill/pkg/grid"
)

// Lines that Grid Engine 8.1.9 wrote.
var genuine = []string{
	"all.q:node1:bob:bob:arr3:86:sge:0:1795226511:1795226511:1795226517:100:137:6:0.005070:0.012321:4576.000000:0:0:0:0:554:0:0:0.000000:24:0:0:0:13:6:NONE:defaultdepartment:NONE:1:1:0.017391:0.000008:0.000037:NONE:0.000000:NONE:3514368.000000:0:0",
	"all.q:node1:bob:bob:nn:84:sge:0:1795226511:1795226511:1795226517:100:137:6:0.003783:0.008379:4588.000000:0:0:0:0:549:0:0:240.000000:40:0:0:0:20:7:NONE:defaultdepartment:NONE:1:0:0.012162:0.000000:0.000037:-l h_rt=5:0.000000:NONE:3461120.000000:0:0",
	"all.q:node1:alice:alice:t_cwd:1:sge:0:1795225908:0:0:28:0:0:0.000000:0.000000:0.000000:0:0:0:0:0:0:0:0.000000:0:0:0:0:0:0:NONE:defaultdepartment:NONE:1:0:0.000000:0.000000:0.000000:NONE:0.000000:NONE:0.000000:0:0",
}

func TestGenuineLines(t *testing.T) {
	for _, line := range genuine {
		a, err := ParseLine(line + "\n")
		if err != nil {
			t.Fatalf("ParseLine(%q): %v", line, err)
		}
		if got := string(AppendLine(nil, a)); got != line+"\n" {
			t.Errorf("written again:\n got %s\nwant %s", got, line)
		}
	}
}

func TestWhatIsNoRecord(t *testing.T) {
	for _, line := range []string{"", "\n", "# Version: 8.1.9\n"} {
		if _, err := ParseLine(line); !errors.Is(err, ErrComment) {
			t.Errorf("ParseLine(%q): %v, want ErrComment", line, err)
		}
	}
	for line, want := range map[string]string{
		"a:b:c": "accounting line has 3 fields instead of 45",
		strings.Replace(genuine[0], ":86:", ":x:", 1):   `field 6 of an accounting line: "x" is no number`,
		genuine[0][:strings.LastIndex(genuine[0], ":")]: "accounting line has 44 fields instead of 45",
	} {
		if _, err := ParseLine(line); err == nil || err.Error() != want {
			t.Errorf("ParseLine(%q): %v, want %s", line, err, want)
		}
	}
}

func TestColonsAndNewlinesCannotBreakALine(t *testing.T) {
	a := &grid.Accounting{Job: 7, Name: "a:b\nc", Category: "-l h_rt=1:0:0"}
	line := string(AppendLine(nil, a))
	if strings.Count(line, ":") != Fields-1 || strings.Count(line, "\n") != 1 {
		t.Fatalf("broken line %q", line)
	}
	back, err := ParseLine(line)
	if err != nil || back.Name != "a_b c" || back.Category != "-l h_rt=1_0_0" {
		t.Errorf("read as %q, %q, %v", back.Name, back.Category, err)
	}
}

// TestRoundTrip: what a line can hold comes back.
func TestRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringMatching(`[a-z][a-z0-9.=@ -]{0,9}`)
		n := rapid.Uint32Range(0, 1<<31)
		whole := rapid.Int64Range(0, 1<<40)
		at := rapid.Int64Range(0, 1<<33)
		a := &grid.Accounting{
			Attempt: 1, Queue: text.Draw(t, "queue"), Host: text.Draw(t, "host"), Group: text.Draw(t, "group"),
			Owner: text.Draw(t, "owner"), Name: text.Draw(t, "name"), Account: text.Draw(t, "account"),
			Job: n.Draw(t, "job"), Task: 1, Priority: rapid.Int32Range(-1023, 1024).Draw(t, "priority"),
			Submit: grid.Time(at.Draw(t, "submit") * 1000), Start: grid.Time(at.Draw(t, "start") * 1000),
			Failed: n.Draw(t, "failed"), ExitStatus: n.Draw(t, "exit"), Slots: n.Draw(t, "slots"), AR: n.Draw(t, "ar"),
			Project: text.Draw(t, "project"), PE: text.Draw(t, "pe"), Category: text.Draw(t, "category"),
		}
		if rapid.Bool().Draw(t, "array") {
			a.Array, a.Task = true, rapid.Uint32Min(1).Draw(t, "task")
		}
		a.Usage.WallSeconds = float64(whole.Draw(t, "wall"))
		a.Usage.CPU = float64(whole.Draw(t, "cpu")) / 64
		a.Usage.MaxVMem = float64(whole.Draw(t, "maxvmem"))
		a.Usage.InBlocks = whole.Draw(t, "inblock")
		back, err := ParseLine(string(AppendLine(nil, a)))
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(a, back); d != "" {
			t.Fatal(d)
		}
	})
}

func BenchmarkAppendLine(b *testing.B) {
	a, err := ParseLine(genuine[1])
	if err != nil {
		b.Fatal(err)
	}
	var line []byte
	b.ReportAllocs()
	for b.Loop() {
		line = AppendLine(line[:0], a)
	}
	b.SetBytes(int64(len(line)))
}

func BenchmarkParseLine(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if _, err := ParseLine(genuine[1]); err != nil {
			b.Fatal(err)
		}
	}
}
