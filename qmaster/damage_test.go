package qmaster

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/quill-grid/quill/pkg/history"
)

// TestFlippedLastMessage: the server is silent about a message at the end of the log that it cannot read. Readers and
// qmaster name it, without a long wait; a qmaster that starts from a snapshot after it logs it.
func TestFlippedLastMessage(t *testing.T) {
	for name, snapshot := range map[string]bool{"before a snapshot": true, "after all snapshots": false} {
		t.Run(name, func(t *testing.T) { flippedLast(t, snapshot) })
	}
}

func flippedLast(t *testing.T, snapshot bool) {
	cell := newCell(t)
	q := start(t, Options{Cell: cell, Durable: true})
	for i := range 20 {
		submitJob(t, connect(t, cell), fmt.Sprint("j", i))
	}
	stop(t, q)
	if !snapshot {
		for _, f := range snapshotFiles(t, cell) {
			os.Remove(f)
		}
	}
	blocks,
		err := filepath.Glob(filepath.Join(dirsOf(cell).log, "jetstream", "*", "streams", "GE_EVENTS", "msgs", "*.blk"))
	if err != nil || len(blocks) == 0 {
		t.Fatal(blocks, err)
	}
	last := blocks[len(blocks)-1]
	info, err := os.Stat(last)
	if err != nil {
		t.Fatal(err)
	}
	flip(t, last, info.Size()-60)

	begun := time.Now()
	l, err := history.Open(context.Background(), history.Source{Dir: cell.Dir()})
	if err != nil {
		t.Fatal(err)
	}
	if c := l.Check(); c.Damage == nil || !strings.Contains(c.Damage.Error(), "after message 21 (list 20)") {
		t.Error(c.Damage)
	}
	l.Close()
	var said bytes.Buffer
	q,
		err = Start(context.Background(),
		Options{Cell: cell, Durable: true, Log: hclog.New(&hclog.LoggerOptions{Output: &said})})
	if took := time.Since(begun); took > 20*time.Second {
		t.Errorf("it was found after %v", took)
	}
	if !snapshot {
		if err == nil || !strings.Contains(err.Error(), "after message 21 (list 20): messages up to 22 cannot be read") {
			t.Error(err)
		}
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	q.checkPast(context.Background(), 0)
	stop(t, q)
	if !strings.Contains(said.String(), "the log is damaged before the snapshot from which qmaster has started") {
		t.Error(&said)
	}
}
