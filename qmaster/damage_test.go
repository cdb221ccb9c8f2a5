package qmaster

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/go-hclog"

	"github.com/quill-grid/quill/pkg/cell"
	"github.com/quill-grid/quill/pkg/history"
)

// spoilers damage the log: at is where a record begins in a block.
var spoilers = map[string]func(t *testing.T, block string, at int64){
	"flipped bit": func(t *testing.T, block string, at int64) { flip(t, block, at-30) },
	// the server has no checksum of it
	"flipped length of headers": func(t *testing.T, block string, at int64) {
		text, err := os.ReadFile(block)
		if err != nil {
			t.Fatal(err)
		}
		flip(t, block, at+22+int64(binary.LittleEndian.Uint16(text[at+20:])))
	},
	"flipped length": func(t *testing.T, block string, at int64) { flip(t, block, at) },
	// the server would look for 2^59 messages before it
	"flipped number": func(t *testing.T, block string, at int64) { flipBits(t, block, at+4+7, 8) },
	"lost end": func(t *testing.T, block string, at int64) {
		if err := os.Truncate(block, at); err != nil {
			t.Fatal(err)
		}
	},
	"lost block": func(t *testing.T, block string, _ int64) {
		if err := os.Remove(block); err != nil {
			t.Fatal(err)
		}
	},
}

// TestDamagedLog: damage in the log stops the start, which says where and what to do, and changes nothing, however
// often it is tried; quill log verify names the same position. With Repair qmaster continues with what can be read.
// After a crash, or when it does not find its way in a block, the server itself cuts the block before the damage
// without a word.
func TestDamagedLog(t *testing.T) {
	for _, c := range []struct {
		name             string
		crashed, durable bool
		left             int // of 20 jobs after the repair
	}{
		{"flipped bit", false, true, 19}, {"flipped bit", false, false, 19},
		{"flipped bit", true, true, 10}, {"flipped bit", true, false, 10},
		{"flipped length", false, true, 11}, {"flipped length of headers", true, true, 19},
		{"flipped number", false, true, 11}, {"lost end", false, true, 11}, {"lost block", true, false, 0},
	} {
		t.Run(fmt.Sprintf("%s, crashed %v, durable %v", c.name, c.crashed, c.durable), func(t *testing.T) {
			damagedLog(t, c.crashed, c.durable, c.left, spoilers[c.name])
		})
	}
}

func damagedLog(t *testing.T, crashed, durable bool, left int, spoil func(t *testing.T, block string, at int64)) {
	cell := newCell(t)
	q := start(t, Options{Cell: cell, Durable: durable})
	for i := range 20 {
		submitJob(t, connect(t, cell), fmt.Sprint("j", i))
	}
	stop(t, q)
	for _, f := range snapshotFiles(t, cell) {
		os.Remove(f)
	}
	spoilLog(t, cell, crashed, spoil)
	before := sums(t, cell.Dir())
	verified := verify(cell)
	if verified == nil {
		t.Fatal("the log is said to be good")
	}
	said := ""
	for range 2 {
		_, err := Start(context.Background(), Options{Cell: cell, Durable: durable})
		if err == nil {
			t.Fatal("started on a damaged log")
		}
		position := regexp.MustCompile(`log is damaged (after|between) message \d+ \(list \d+\)`).FindString(err.Error())
		if position == "" || !strings.Contains(verified.Error(), position) {
			t.Errorf("%q is not at the position that quill log verify names: %v", err, verified)
		}
		if !strings.Contains(err.Error(), "or give up what cannot be read: qmaster --repair") {
			t.Errorf("error does not say what to do: %v", err)
		}
		if said != "" && said != err.Error() {
			t.Errorf("the second time it says %v, not %s", err, said)
		}
		said = err.Error()
		if diff := cmp.Diff(before, sums(t, cell.Dir())); diff != "" {
			t.Errorf("the start was refused and has changed:\n%s", diff)
		}
	}
	if _, err := os.Stat(cell.PIDFile()); err == nil {
		t.Error("clients are made to wait for a qmaster that cannot start")
	}
	q = start(t, Options{Cell: cell, Durable: durable, Repair: true})
	if n := len(jobs(t, connect(t, cell))); n != left {
		t.Errorf("%d jobs after the repair, not %d", n, left)
	}
	id := submitJob(t, connect(t, cell), "after")
	if id <= 20 {
		t.Errorf("the number of a lost job, %d, is given again", id)
	}
	stop(t, q)
	q = start(t, Options{Cell: cell, Durable: durable})
	if jobs(t, connect(t, cell))[id] != "after" {
		t.Error("the job after the repair is lost")
	}
	stop(t, q)
}

// TestDamageBeforeSnapshot: damage before the newest snapshot does not keep qmaster from starting, whatever it is and
// however the server has ended; the state is whole.
func TestDamageBeforeSnapshot(t *testing.T) {
	for name, crashed := range map[string]bool{"flipped bit": true, "flipped length": false, "lost end": false} {
		t.Run(fmt.Sprintf("%s, crashed %v", name, crashed), func(t *testing.T) {
			cell := newCell(t)
			q := start(t, Options{Cell: cell, Durable: true})
			for i := range 20 {
				submitJob(t, connect(t, cell), fmt.Sprint("j", i))
			}
			stop(t, q)
			spoilLog(t, cell, crashed, spoilers[name])
			q = start(t, Options{Cell: cell, Durable: true})
			submitJob(t, connect(t, cell), "after")
			if have := len(jobs(t, connect(t, cell))); have != 21 {
				t.Errorf("%d jobs, not 21", have)
			}
			stop(t, q)
		})
	}
}

// verify returns what quill log verify finds; nil: the log is good.
func verify(cell cell.Cell) error {
	l, err := history.Open(context.Background(), history.Source{Dir: cell.Dir()})
	if err != nil {
		return err
	}
	defer l.Close()
	return l.Check().Damage
}

// spoilLog spoils the record after 13 others of a log whose server has stopped.
func spoilLog(t *testing.T, cell cell.Cell, crashed bool, spoil func(t *testing.T, block string, at int64)) {
	t.Helper()
	block := lastBlock(t, cell)
	spoil(t, block, recordAt(t, block, 13))
	if crashed {
		if err := os.Remove(filepath.Join(filepath.Dir(block), "index.db")); err != nil {
			t.Fatal(err)
		}
	}
}

// lastBlock returns the newest block file of the log.
func lastBlock(t *testing.T, cell cell.Cell) string {
	t.Helper()
	blocks,
		err := filepath.Glob(filepath.Join(dirsOf(cell).log, "jetstream", "*", "streams", "GE_EVENTS", "msgs", "*.blk"))
	if err != nil || len(blocks) == 0 {
		t.Fatal(blocks, err)
	}
	return blocks[len(blocks)-1]
}

// recordAt returns where the record after n others begins in a block file.
func recordAt(t *testing.T, block string, n int) (at int64) {
	t.Helper()
	text, err := os.ReadFile(block)
	if err != nil {
		t.Fatal(err)
	}
	for range n {
		at += int64(binary.LittleEndian.Uint32(text[at:]) &^ (1 << 31)) // the bit: it has headers
	}
	return at
}

// sums returns the SHA-256 of each file of a cell's log, snapshots and history, by name.
func sums(t *testing.T, cell string) map[string]string {
	t.Helper()
	all := map[string]string{}
	for _, dir := range []string{history.StoreDir, history.SnapshotsDir, history.SegmentsDir} {
		err := filepath.WalkDir(filepath.Join(cell, dir), func(path string, e fs.DirEntry, err error) error {
			if err == nil && e.Type().IsRegular() {
				sum, bad := history.ChecksumOf(path)
				all[path], err = sum.SHA256, bad
			}
			return err
		})
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Fatal(err)
		}
	}
	return all
}

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
	last := lastBlock(t, cell)
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
