package cell

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

// TestStarting: a qmaster starts until it serves, or was killed a while ago.
func TestStarting(t *testing.T) {
	c := Cell{Root: t.TempDir(), Name: "c"}
	if c.Starting() {
		t.Error("no qmaster was started")
	}
	end, err := c.KeepStarting("h")
	if c.Starting() {
		t.Error("for the first time")
	}
	if os.MkdirAll(c.Common(), 0o755) != nil || c.WriteBootstrap(nil) != nil {
		t.Fatal("no bootstrap file")
	}
	if err != nil || !c.Starting() {
		t.Error("started:", err)
	}
	end()
	if c.Starting() {
		t.Error("it serves")
	}
	killed := filepath.Join(c.starting(), "h.1")
	long := time.Now().Add(-startingLife)
	if err := os.WriteFile(killed, nil, 0o644); err != nil || os.Chtimes(killed, long, long) != nil || c.Starting() {
		t.Error("it was killed", err)
	}
	if err := os.WriteFile(filepath.Join(c.Dir(), "file"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if end, err := (Cell{Root: filepath.Join(c.Dir(), "file"), Name: "c"}).KeepStarting("h"); err == nil {
		t.Error("no error though there is no directory")
	} else {
		end()
	}
}
