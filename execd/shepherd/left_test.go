package shepherd

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/quill-grid/quill/pkg/report"
)

// A folder that is out of reach when its job ends is removed by the next shepherd: the end says that it stays.
func TestFolderOutOfReach(t *testing.T) {
	h := newHost(t)
	active, away := filepath.Join(h.dir, "active"), filepath.Join(h.dir, "away")
	if err := os.Mkdir(active, 0o755); err != nil {
		t.Fatal(err)
	}
	p := h.plan(1, "touch $SGE_JOB_SPOOL_DIR/something; mv "+active+" "+away)
	p.Spool = filepath.Join(active, "1.1")
	e := h.run(p)
	want(t, "failed", e.Failed, report.NoFailure)
	want(t, "left", e.Left, "remove "+p.Spool+": no such file or directory")
	want(t, "the next leaves nothing", h.run(h.plan(2, "true")).Left, "")

	again := func() {
		t.Helper()
		if err := h.k.Shutdown(h.ctx, false); err != nil {
			t.Fatal(err)
		}
		h.connect(false)
	}
	again() // it is still away
	if err := os.Rename(away, active); err != nil {
		t.Fatal(err)
	}
	again()
	if _, err := os.Stat(p.Spool); !os.IsNotExist(err) {
		t.Errorf("the folder is still there: %v", err)
	}
	journal, err := os.ReadFile(filepath.Join(h.dir, journalName))
	if err != nil || strings.Count(string(journal), p.Spool) > 1 { // in the end's own words
		t.Errorf("the journal still speaks of it: %q %v", journal, err)
	}
}

// What is kept in mind is bounded, and not what an attempt that begins takes for its own.
func TestLeftInMind(t *testing.T) {
	k := shepherd{journal: &journal{closed: true}}
	for range leftMax {
		k.stays([]string{"/old/"})
	}
	k.stays([]string{"/active/1.1/", "/tmp/1.1.all.q/"})
	want(t, "kept in mind", len(k.left), leftMax)
	k.left = without(k.left, []string{"/script", "/active/1.1/"})
	want(t, "without what is taken", len(k.left), leftMax-1)
	want(t, "the newest", k.left[leftMax-2], "/tmp/1.1.all.q/")
}
