package backup

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"

	"github.com/urfave/cli/v2"

	"github.com/quill-grid/quill/pkg/archive"
	"github.com/quill-grid/quill/pkg/cell"
	"github.com/quill-grid/quill/pkg/codec"
	"github.com/quill-grid/quill/pkg/document"
	"github.com/quill-grid/quill/pkg/frame"
	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/history"
	"github.com/quill-grid/quill/pkg/opt"
	"github.com/quill-grid/quill/pkg/product"
)

const stamp = "2006-01-02 15:04:05"

// Backup is quill backup.
func Backup(env opt.Env) *cli.Command {
	return &cli.Command{
		Name: "backup", Usage: "back up a cell, running or not, to a directory; again to the same one, what is new",
		ArgsUsage: "DIR",
		Description: "DIR is made, or has the backup that is continued. It then holds the newest stored state of the cell, all event\n" +
			"lists after it up to the one that is printed, the keys, and the files in common/. All of it is checked while it\n" +
			"is written. Run it on qmaster's host as the user who runs qmaster. quill restore makes a cell of DIR.",
		Flags: []cli.Flag{opt.DirFlag(), opt.JSONFlag()},
		Action: func(c *cli.Context) error {
			words, err := opt.Words(c)
			if err != nil {
				return fmt.Errorf("backup: %w", err)
			}
			if len(words) != 1 {
				return opt.Usagef("backup needs one directory, not %d", len(words))
			}
			from, err := opt.CellOf(env, c)
			if err == nil {
				err = from.Check()
			}
			if err != nil {
				return err
			}
			b := backup{env: env, cell: from, dir: words[0]}
			err = b.run(c.Context)
			if err != nil && b.made { // a backup that was never complete
				err = errors.Join(err, os.RemoveAll(b.dir))
			}
			if err != nil {
				return fmt.Errorf("backup of cell %s: %w", from.Name, err)
			}
			return b.print(c.Bool("json"))
		},
	}
}

// backup is a run of quill backup.
type backup struct {
	env  opt.Env
	cell cell.Cell
	dir  string

	before *summary // nil: the directory is new
	made   bool     // the directory was not there
	now    summary
	added  history.Check
}

func (b *backup) run(ctx context.Context) error {
	if err := b.begin(); err != nil {
		return err
	}
	lock, err := lockDir(b.dir)
	if err != nil {
		return err
	}
	defer lock.Close()
	complete := frame.Point{}
	if b.before != nil {
		if complete, err = b.before.End.point(); err != nil {
			return fmt.Errorf("%s: %w", filepath.Join(b.dir, history.BackupFile), err)
		}
		bad, err := b.before.Damages(b.dir, func(name string) bool { return !rewritten(name, b.cell) })
		if err == nil && len(bad) > 0 {
			err = joined(bad)
		}
		if err != nil {
			return fmt.Errorf("%w, nothing was added. Begin a new backup in another directory", err)
		}
	}
	if err := removeBeyond(b.dir, complete); err != nil {
		return err
	}
	if b.before == nil { // first: what ends meanwhile is in the lists, too
		if err := copyAccounting(filepath.Join(b.dir, commonDir), b.cell); err != nil {
			return err
		}
	}
	if err := b.addLists(ctx, complete); err != nil {
		return err
	}
	return b.addFolders()
}

// addFolders writes the keys, the files in common, and the summary with what all files are now.
func (b *backup) addFolders() error {
	files := map[string]history.Checksum{}
	if err := addKept(files, b.before, b.dir, b.cell); err != nil {
		return err
	}
	keys, err := readFolder(filepath.Join(b.cell.Dir(), keysDir))
	none := errors.Is(err, fs.ErrNotExist)
	if err != nil && !none {
		return fmt.Errorf("the keys cannot be copied: run quill backup on qmaster's host as the user who runs qmaster: %w",
			err)
	}
	common, err := readFolder(b.cell.Common(), uncopied(b.cell)...)
	if err != nil {
		return err
	}
	if b.before != nil { // if this is interrupted the backup is as it was, with some of the new files
		between := *b.before
		between.Files, between.Next = maps.Clone(between.Files), map[string]history.Checksum{}
		for name, sum := range b.before.Next { // it was interrupted once already
			if now, err := history.ChecksumOf(filepath.Join(b.dir, name)); err == nil && now == sum {
				between.Files[name] = sum
			}
		}
		for name := range b.before.Files {
			if rewritten(name, b.cell) { // unless it is written again
				between.Next[name] = history.Checksum{}
			}
		}
		keys.sums(between.Next, keysDir)
		common.sums(between.Next, commonDir)
		if err := between.write(b.dir); err != nil {
			return err
		}
	}
	if !none {
		if err := keys.write(filepath.Join(b.dir, keysDir)); err != nil {
			return err
		}
	}
	if err := common.write(filepath.Join(b.dir, commonDir), uncopied(b.cell)...); err != nil {
		return err
	}
	keys.sums(files, keysDir)
	common.sums(files, commonDir)
	b.now.Root, b.now.Files, b.now.Next = b.cell.Root, files, nil
	return b.now.write(b.dir)
}

// begin makes the directory, or reads what is in it.
func (b *backup) begin() (err error) {
	// Before anything is written: a backup without keys is none.
	if _, err := os.ReadDir(filepath.Join(b.cell.Dir(), keysDir)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("the keys cannot be read: run quill backup on qmaster's host as the user who runs qmaster: %w", err)
	}
	if isWithin(b.dir, b.cell.Dir()) {
		return fmt.Errorf("%s is in the directory of the cell: what ends one would end the other", b.dir)
	}
	there, err := readSummary(b.dir)
	if err != nil {
		return err
	}
	switch entries, err := os.ReadDir(b.dir); {
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return err
	case there == nil && len(entries) > 0:
		return fmt.Errorf("%s is not empty, and holds no backup", b.dir)
	case there != nil && there.damage != nil: // what looks unfinished would be removed
		return fmt.Errorf("%w: the backup is damaged, nothing was added. Begin a new backup in another directory",
			there.damage)
	case there != nil && there.Cell != b.cell.Name:
		return fmt.Errorf("%s holds a backup of cell %s", b.dir, there.Cell)
	case there != nil && there.complete():
		b.before = there
	}
	// Not its parents: where a disk is not mounted the backup would fill another one.
	switch err := os.Mkdir(b.dir, 0o700); {
	case err == nil:
		b.made = true
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%s does not exist: make it, or mount the disk, and try again", filepath.Dir(b.dir))
	case !errors.Is(err, fs.ErrExist):
		return err
	}
	if err := os.MkdirAll(filepath.Join(b.dir, history.SegmentsDir), 0o700); err != nil || there != nil {
		return err
	}
	begun := summary{Version: summaryVersion, Cell: b.cell.Name, Host: b.env.Host, Made: grid.TimeOf(b.env.Now())}
	return begun.write(b.dir)
}

// isWithin reports whether a directory, which may not be there yet, is in another one.
func isWithin(dir, other string) bool {
	up, err := os.Stat(other)
	if err != nil {
		return false
	}
	for dir, _ = filepath.Abs(dir); ; dir = filepath.Dir(dir) {
		if there, err := os.Stat(dir); err == nil && os.SameFile(there, up) {
			return true
		}
		if dir == filepath.Dir(dir) {
			return false
		}
	}
}

// addLists adds the lists after a point, to a new directory a full state and the lists after it, and checks what it has
// written.
func (b *backup) addLists(ctx context.Context, after frame.Point) error {
	s := history.Source{Cell: b.cell, From: gdi.Place{Seq: 1 << 62},
		Odd: func(u *codec.Unreadable) { fmt.Fprintln(b.env.Stderr, "quill backup:", u) }}
	if b.before != nil {
		s.From, s.Lists = gdi.Place{Seq: after.Seq}, true
	}
	l, err := history.Open(ctx, s)
	if err != nil {
		return err
	}
	defer l.Close()
	if l.About().Partial {
		return errors.New("only managers may make a backup")
	}
	_, last := l.Span()
	b.now = summary{Version: summaryVersion, Cell: b.cell.Name, Host: b.env.Host, Made: grid.TimeOf(b.env.Now())}
	if b.before != nil && last.Seq <= after.Seq {
		if last.Seq < after.Seq {
			return fmt.Errorf(
				"%s holds lists up to %d, the cell has lists up to %d: it was restored or is another one. Begin a new backup: name another directory", b.dir, after.Seq, last.Seq)
		}
		made := b.now.Made
		b.now = *b.before
		b.now.Made = made
		return nil
	}
	e := history.Export{Kept: true, From: last.Seq, After: after,
		About: history.About{Program: "quill " + product.Version, Made: b.now.Made}}
	fresh := filepath.Join(b.dir, history.SegmentsDir, "new")
	err = archive.ReplaceBy(fresh, 0o600, func(out io.Writer) error {
		buffered := bufio.NewWriterSize(out, 1<<20)
		return errors.Join(l.Export(buffered, e), buffered.Flush())
	})
	if damage := (*frame.Damage)(nil); errors.As(err, &damage) && b.before != nil {
		return fmt.Errorf(
			"the cell's log does not continue this backup: %w. What %s holds is as it was; begin a new backup in another directory", err, b.dir)
	}
	if err != nil {
		return err
	}
	return b.checked(ctx, fresh, last, l.About())
}

// checked reads what was written of a log, up to a list, and gives it its name.
func (b *backup) checked(ctx context.Context, fresh string, last history.Mark, of history.About) error {
	l, err := history.Open(ctx, history.Source{File: fresh})
	if err != nil {
		return err
	}
	defer l.Close()
	for _, about := range []history.About{of, l.About()} {
		if about.PassedOver != "" {
			fmt.Fprintf(b.env.Stderr, "quill backup: %s\n", about.PassedOver)
		}
	}
	b.added = l.Check()
	switch {
	case b.added.Damage != nil:
		return fmt.Errorf("the log is damaged, nothing was added: %w", b.added.Damage)
	case len(b.added.States) > 0 && b.added.States[0].Err != nil:
		return fmt.Errorf("the stored state cannot be used, nothing was added: %w", b.added.States[0].Err)
	case b.added.End.Seq != last.Seq:
		return fmt.Errorf("the log ends at list %d, not at list %d: nothing was added", b.added.End.Seq, last.Seq)
	}
	b.now.Lists, b.now.Last, b.now.End = b.added.Lists, markOf(last), endOf(b.added.End)
	begin := b.added.Begin.Stream
	if b.before == nil {
		first, _ := l.Span()
		b.now.First = markOf(first)
	} else {
		b.now.First, b.now.Lists = b.before.First, b.before.Lists+b.added.Lists
	}
	segments := filepath.Dir(fresh)
	if err := os.Rename(fresh, filepath.Join(segments, archive.SegmentName(begin, b.added.End.Stream))); err != nil {
		return err
	}
	return archive.Sync(segments)
}

func (b *backup) print(json bool) error {
	if json {
		first, last := document.MarkOf(b.now.First.List, b.now.First.Time), document.MarkOf(b.now.Last.List, b.now.Last.Time)
		return document.Write(b.env.Stdout, document.LogCopy{Path: b.dir, Lists: b.added.Lists, First: &first, Last: &last})
	}
	_, err := fmt.Fprintf(b.env.Stdout, "%s: cell %s up to list %d of %s (%s added)\n", b.dir,
		b.cell.Name, b.now.Last.List,
		b.now.Last.Time.Std().In(b.env.Now().Location()).Format(stamp), opt.Count(b.added.Lists, "list"))
	return err
}
