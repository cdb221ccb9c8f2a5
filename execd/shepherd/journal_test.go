package shepherd

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"reflect"
	"syscall"
	"testing"
	"time"

	"github.com/quill-grid/quill/execd/plan"
	"github.com/quill-grid/quill/pkg/report"
	"github.com/quill-grid/quill/pkg/testkit"
)

func testKey(n int) report.Attempt { return report.Attempt{Job: uint32(n), Task: 1, N: 1} }

func testEnd(n int) journalRecord {
	return journalRecord{End: &endRecord{Attempt: testKey(n), End: plan.End{Result: report.Result{ExitStatus: uint32(n)}}}}
}

// written adds a record and returns what became of it.
func written(j *journal, r journalRecord) error {
	done := make(chan error, 1)
	j.add(true, func(err error) { done <- err }, r)
	return <-done
}

// keys prints the jobs whose ends are in the file.
func keys(t *testing.T, path string) (jobs string, damaged int) {
	t.Helper()
	records, damaged, err := readJournal(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range records {
		jobs += fmt.Sprint(r.End.Attempt.Job, " ")
	}
	return jobs, damaged
}

func TestJournalSurvivesDamage(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal")
	j, err := openJournal(path, []journalRecord{testEnd(1)}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for n := 2; n <= 4; n++ {
		if err := written(j, testEnd(n)); err != nil {
			t.Fatal(err)
		}
	}
	j.close()
	if err := written(j, testEnd(9)); !errors.Is(err, os.ErrClosed) {
		t.Errorf("record for a closed journal: %v", err)
	}
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	jobs, damaged := keys(t, path)
	want(t, "whole", jobs, "1 2 3 4 ")
	want(t, "damaged", damaged, 0)

	os.WriteFile(path, whole[:len(whole)-3], 0o600) // an append that never finished
	jobs, damaged = keys(t, path)
	want(t, "cut tail", jobs, "1 2 3 ")
	want(t, "damaged", damaged, 0)

	flipped := append([]byte(nil), whole...)
	flipped[len(whole)/4+20] ^= 4
	os.WriteFile(path, flipped, 0o600)
	jobs, damaged = keys(t, path)
	want(t, "flipped bit", jobs, "1 3 4 ")
	want(t, "damaged", damaged, 1)
}

func TestJournalIsCompacted(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal")
	last := make(chan journalRecord, 1)
	last <- testEnd(0)
	j, err := openJournal(path, nil, func() []journalRecord {
		r := <-last
		last <- r
		return []journalRecord{r}
	})
	if err != nil {
		t.Fatal(err)
	}
	grown, jobs := false, 3*compactSize/(64<<10)
	for n := range jobs {
		long := testEnd(n)
		long.End.End.Text = string(make([]byte, 64<<10))
		if err := written(j, long); err != nil {
			t.Fatal(err)
		}
		<-last
		last <- long
		s, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		grown = grown || s.Size() > compactSize/2
		if s.Size() > compactSize+1<<20 {
			t.Fatalf("journal has %d bytes", s.Size())
		}
	}
	want(t, "grown before it was compacted", grown, true)
	j.close()
	records, damaged, err := readJournal(path)
	if err != nil || damaged > 0 || records[len(records)-1].End.Attempt != testKey(jobs-1) {
		t.Errorf("%d records, %d damaged, %v", len(records), damaged, err)
	}
}

// On a full disk the record that did not fit is refused whole, and later ones are readable.
func TestJournalOnFullDisk(t *testing.T) {
	if !alone(t) {
		return
	}
	dir := t.TempDir()
	path := filepath.Join(dir, "journal")
	j, err := openJournal(path, []journalRecord{testEnd(1)}, nil)
	if err != nil {
		t.Fatal(err)
	}
	// A file size limit, which all users can set, stands for the disk.
	var before syscall.Rlimit
	syscall.Getrlimit(syscall.RLIMIT_FSIZE, &before)
	s, _ := os.Stat(path)
	syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: uint64(s.Size()) + 50, Max: before.Max})
	err = written(j, testEnd(2))
	syscall.Setrlimit(syscall.RLIMIT_FSIZE, &before)
	if err == nil {
		t.Error("a record that did not fit was called written")
	}
	if err := written(j, testEnd(3)); err != nil {
		t.Fatal(err)
	}
	j.close()
	jobs, damaged := keys(t, path)
	want(t, "journal", jobs, "1 3 ")
	want(t, "damaged", damaged, 0)
}

// An answer without a record of its own, to a plan that is known already, waits for the write under way and no longer.
func TestNoRecordDuringWrite(t *testing.T) {
	j, err := openJournal(filepath.Join(t.TempDir(), journalName), nil, func() []journalRecord { return nil })
	if err != nil {
		t.Fatal(err)
	}
	defer j.close()
	answered := make(chan error, 1)
	j.add(false, func(error) { // called during the write
		j.add(false, func(err error) { answered <- err })
	}, testEnd(1))
	select {
	case err := <-answered:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(testkit.Patience):
		t.Error("no answer")
	}
}

// FuzzJournal checks that no bytes before a whole record hide it: neither in the file, nor as the fields of a record
// whose checksum is right.
func FuzzJournal(f *testing.F) {
	last := testEnd(7)
	whole := appendRecord(nil, &last)
	f.Add(whole)
	f.Add(whole[:len(whole)-1])
	f.Add(whole[len(recordMark)+checkBytes+lengthBytes:])
	f.Fuzz(func(t *testing.T, b []byte) {
		fields := append(binary.BigEndian.AppendUint32(nil, uint32(len(b))), b...)
		record := append(binary.BigEndian.AppendUint32([]byte(recordMark), crc32.ChecksumIEEE(fields)), fields...)
		for _, before := range [][]byte{b, record} {
			records, _ := parseJournal(append(before, whole...))
			if n := len(records); n == 0 || !reflect.DeepEqual(records[n-1], last) {
				t.Errorf("%q and a whole record are read as %+v", before, records)
			}
		}
	})
}
