package shepherd

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/quill-grid/quill/pkg/report"
)

// A folder that is out of reach when its job ends may be gone, with what it was in: the end says nothing of it. If it
// comes back the next shepherd removes it.
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
	want(t, "left", e.Left, "")
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
	if err != nil || strings.Contains(string(journal), p.Spool) {
		t.Errorf("the journal still speaks of it: %q %v", journal, err)
	}
}

// What is kept in mind is bounded, and not what an attempt that begins takes for its own.
func TestLeftInMind(t *testing.T) {
	k := shepherd{journal: &journal{closed: true}}
	for range leftMax {
		k.retryLater([]string{"/old/"})
	}
	k.retryLater([]string{"/active/1.1/", "/tmp/1.1.all.q/"})
	want(t, "kept in mind", len(k.left), leftMax)
	k.left = withoutPaths(k.left, []string{"/script", "/active/1.1/"})
	want(t, "without what is taken", len(k.left), leftMax-1)
	want(t, "the newest", k.left[leftMax-2], "/tmp/1.1.all.q/")
}

// What is left is tried again soon, then less and less often; what is newly left is tried soon.
func TestRetry(t *testing.T) {
	var r removalRetry
	r.scheduleSoon()
	next := func() (samples int) {
		for samples = 1; !r.countSample(); samples++ {
		}
		return samples
	}
	for _, after := range []int{2, 4, 8, 16, 32, 60, 60} {
		want(t, "samples", next(), after)
	}
	r.scheduleSoon()
	want(t, "samples after something new", next(), 2)
}

// Of what stays, the reason is that of the first directory that is there, or may be.
func TestRemoveReason(t *testing.T) {
	base := t.TempDir()
	gone, long := filepath.Join(base, "gone/1.1")+"/", filepath.Join(base, strings.Repeat("x", 300))+"/"
	left, why := removePaths([]string{gone, filepath.Join(base, "removed") + "/"})
	want(t, "what is not there stays in mind", strings.Join(left, " "), gone)
	want(t, "its reason", why, nil)
	left, why = removePaths([]string{gone, long})
	want(t, "what stays", strings.Join(left, " "), gone+" "+long)
	want(t, "the reason", why != nil && strings.HasSuffix(why.Error(), "file name too long"), true)
}
