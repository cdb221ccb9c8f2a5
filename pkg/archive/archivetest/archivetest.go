// Package archivetest checks what every store of snapshots must do. To check another store: a test that hands its
// Snapshots to Snapshots. Damage changes a file as a broken disk would. Only tests import this package.
package archivetest

import (
	"fmt"
	"iter"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/quill-grid/quill/pkg/archive"
	"github.com/quill-grid/quill/pkg/frame"
)

// Snapshots checks snapshots that are still empty: the newest comes back, the oldest are removed. Those at lists 30, 40
// and 50 are left.
func Snapshots(t *testing.T, s *archive.Snapshots) {
	t.Helper()
	if at, err := s.Newest(nil, nil); err != nil || at != (frame.Point{}) {
		t.Fatalf("empty: %v %v", at, err)
	}
	for seq := uint64(10); seq <= 50; seq += 10 {
		at := frame.Point{Epoch: 1 << 32, Seq: seq, Stream: seq / 10, Hash: frame.Hash{byte(seq)}}
		if err := s.Write(at, State("state at", "", fmt.Sprint(seq))); err != nil {
			t.Fatal(err)
		}
	}
	var got []string
	at, err := s.Newest(func(name string, why error) { t.Errorf("%s: %v", name, why) }, func(c []byte) error {
		got = append(got, string(c))
		return nil
	})
	if err != nil || strings.Join(got, "|") != "state at||50" ||
		at != (frame.Point{Epoch: 1 << 32, Seq: 50, Stream: 5, Hash: frame.Hash{50}}) {
		t.Errorf("newest: %v %q %v", at, got, err)
	}
	if at, err := s.Oldest(); err != nil || at.Seq != 30 {
		t.Errorf("oldest: %v %v", at, err)
	}
	if points, err := s.Points(); err != nil || len(points) != 3 {
		t.Errorf("kept %v %v", points, err)
	}
}

// State returns the chunks of a state.
func State(text ...string) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		for chunk := range slices.Values(text) {
			if !yield([]byte(chunk)) {
				return
			}
		}
	}
}

// Damage replaces the content of a file by what change makes of it.
func Damage(t *testing.T, path string, change func([]byte) []byte) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err == nil {
		err = os.WriteFile(path, change(b), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}
