package log

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/urfave/cli/v2"

	"github.com/quill-grid/quill/pkg/archive"
	"github.com/quill-grid/quill/pkg/bus"
	"github.com/quill-grid/quill/pkg/frame"
	"github.com/quill-grid/quill/pkg/history"
	"github.com/quill-grid/quill/pkg/opt"
)

func (c command) imports() *cli.Command {
	return &cli.Command{
		Name: "import", Usage: "make the directory of a cell from an exported file",
		ArgsUsage: "FILE DIR",
		Description: "DIR must be empty or not there. Every command that takes --log reads it as it reads the file;\n" +
			"and as $SGE_ROOT/$SGE_CELL a qmaster can be started on it, which continues from the file's end.",
		Flags:  []cli.Flag{opt.JSONFlag()},
		Action: c.read,
	}
}

// read makes the directory: the file is a segment, and the state at its end a
// snapshot from which a qmaster starts.
func (c command) read(x *cli.Context) error {
	words, err := opt.Words(x)
	if err != nil {
		return fmt.Errorf("log import: %w", err)
	}
	if len(words) != 2 {
		return opt.Usagef("log import needs a file and a directory")
	}
	file, dir := words[0], words[1]
	if entries, err := os.ReadDir(dir); err == nil && len(entries) > 0 {
		return fmt.Errorf("%s is not empty", dir)
	}
	l, err := c.open(x.Context, file, nil)
	if err != nil {
		return err
	}
	defer l.Close()
	check := l.Check()
	segments := filepath.Join(dir, history.SegmentsDir)
	if err := os.MkdirAll(segments, 0o700); err != nil {
		return err
	}
	about := l.About()
	damaged := c.into(filepath.Join(segments, archive.SegmentName(check.Begin.Stream, check.End.Stream)),
		func(out io.Writer) error {
			return l.Export(out, history.Export{Kept: true, About: about})
		})
	if d := (*frame.Damage)(nil); damaged != nil && !errors.As(damaged, &d) {
		return damaged
	}
	snapshots, err := archive.OpenSnapshots(filepath.Join(dir, history.SnapshotsDir))
	if err != nil {
		return err
	}
	full, err := l.Full(max(check.Last.Seq, check.First.Seq))
	if err != nil {
		return err
	}
	if err := snapshots.Write(check.End, history.Chunks(full)); err != nil {
		return err
	}
	if err := bus.MakeLog(filepath.Join(dir, history.StoreDir), check.End.Stream+1); err != nil {
		return err
	}
	if x.Bool("json") {
		return errors.Join(c.printCopy(dir, check, about), damaged)
	}
	fmt.Fprintf(c.env.Stdout, "%s: %d lists, to %s\n", dir, check.Lists, c.mark(check.Last))
	return damaged
}
