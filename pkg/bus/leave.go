package bus

import (
	"errors"
	"fmt"
)

// Holds reports whether there is anything in the log.
func (l *Log) Holds() (bool, error) {
	_, err := l.Copy(0, func(uint64, []byte) error { return errFull })
	if errors.Is(err, errFull) {
		return true, nil
	}
	return false, err
}

// Leave gives the log up here, because it goes on elsewhere: what has not been
// exported is, and the stream is removed. A Log that is opened with First behind
// the end of this one, and a snapshot there, is its continuation without a seam.
func (l *Log) Leave(to *Segments) error {
	ctx, cancel := l.conn.within(adminWait)
	defer cancel()
	info, err := l.stream.Info(ctx)
	if err == nil {
		err = l.export(info.State.LastSeq, to)
	}
	if err == nil {
		err = l.js.DeleteStream(ctx, l.name)
	}
	if err != nil {
		return fmt.Errorf("leaving log %s: %w", l.name, err)
	}
	return nil
}

// Clear removes all snapshots.
func (s *Snapshots) Clear() error {
	names, err := s.list()
	for _, name := range names {
		err = errors.Join(err, s.shelf.remove(name))
	}
	return err
}
