package backup

import (
	"bufio"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/quill-grid/quill/pkg/archive"
	"github.com/quill-grid/quill/pkg/bus"
	_ "github.com/quill-grid/quill/pkg/bus/embedded" // the server of the stream that is made
	"github.com/quill-grid/quill/pkg/cell"
	"github.com/quill-grid/quill/pkg/codec"
	"github.com/quill-grid/quill/pkg/document"
	"github.com/quill-grid/quill/pkg/frame"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/history"
	"github.com/quill-grid/quill/pkg/opt"
	"github.com/quill-grid/quill/pkg/state"
	"github.com/quill-grid/quill/qmaster/core"
)

// Restore is quill restore.
func Restore(env opt.Env) *cli.Command {
	return &cli.Command{
		Name: "restore", Usage: "make a cell of a backup",
		ArgsUsage: "DIR",
		Description: "Makes $SGE_ROOT/$SGE_CELL, which must not exist, of the directory of quill backup. Run it on the host on which\n" +
			"qmaster is to run, whatever its name, as the user who is to run it. No number of a job, reservation, token or\n" +
			"proposal that may have been given after the backup is given again, and hosts refuse commands of the cell that was.",
		Flags: []cli.Flag{
			opt.DirFlag(),
			&cli.StringFlag{Name: "as-of",
				Usage:       "restore the cell as it was after `LIST|TIME`: the list, or the last one not later than the time",
				DefaultText: "the last list"},
			&cli.UintFlag{Name: "skip", Value: core.NumbersSkipped,
				Usage: "leave out `N` job numbers, more than were given since the backup"},
			opt.JSONFlag(),
		},
		Action: func(c *cli.Context) error {
			words, err := opt.Words(c)
			if err != nil {
				return fmt.Errorf("restore: %w", err)
			}
			if len(words) != 1 {
				return opt.Usagef("restore needs the directory of a backup")
			}
			to, err := opt.CellOf(env, c)
			if err != nil {
				return err
			}
			if c.Uint("skip") > 1<<30 {
				return opt.Usagef("restore: --skip %d: at most %d", c.Uint("skip"), 1<<30)
			}
			r := restore{env: env, from: words[0], to: to, skip: uint32(c.Uint("skip"))}
			if err := r.run(c); err != nil {
				return fmt.Errorf("restore of cell %s: %w", to.Name, err)
			}
			return r.print(c.Bool("json"))
		},
	}
}

// restore is a run of quill restore.
type restore struct {
	env  opt.Env
	from string    // the directory of the backup
	to   cell.Cell // that is made
	skip uint32

	summary *summary

	log   *history.Log
	check history.Check
	last  history.Mark // the list that is restored
	made  cell.Cell    // under another name until it is whole
	after int          // lists restored after the stored state, up to last
	state *state.State
}

func (r *restore) run(c *cli.Context) error {
	if _, err := os.Lstat(r.to.Dir()); !errors.Is(err, fs.ErrNotExist) {
		return errors.Join(
			err, fmt.Errorf("%s exists: move it away, or name another cell with SGE_ROOT and SGE_CELL", r.to.Dir()))
	}
	var err error
	if r.summary, err = readSummary(r.from); err != nil {
		return err
	}
	switch {
	case r.summary != nil && !r.summary.complete() && r.summary.damage != nil:
		return fmt.Errorf("%w: the backup is damaged. Use another backup", r.summary.damage)
	case r.summary == nil || !r.summary.complete():
		return fmt.Errorf("%s holds no complete backup", r.from)
	}
	r.log, err = history.Open(c.Context, history.Source{Dir: r.from, Odd: func(u *codec.Unreadable) {
		fmt.Fprintln(r.env.Stderr, "quill restore:", u)
	}})
	if errors.Is(err, history.ErrUnusable) {
		return fmt.Errorf("%w. Use another backup", err)
	}
	if err != nil {
		return err
	}
	defer r.log.Close()
	if err := r.choose(c.String("as-of")); err != nil {
		return err
	}
	if err := r.intact(c.String("as-of")); err != nil {
		return err
	}
	if err := os.MkdirAll(r.to.Root, 0o755); err != nil {
		return err
	}
	root, err := os.MkdirTemp(r.to.Root, ".restore-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(root)
	r.made = cell.Cell{Root: root, Name: r.to.Name}
	if err := os.Mkdir(r.made.Dir(), 0o755); err != nil {
		return err
	}
	for _, step := range []func() error{r.files, r.lists} {
		if err := step(); err != nil {
			return err
		}
	}
	return errors.Join(os.Rename(r.made.Dir(), r.to.Dir()), archive.Sync(r.to.Root))
}

// choose finds the last list to be restored, up to which the backup must be good.
func (r *restore) choose(asOf string) error {
	first, last := r.log.Span()
	r.last = last
	r.check = r.log.Check()
	beyond := asOf == "" // all is wanted that there was
	if asOf != "" {
		at, err := opt.ParseMoment(asOf, r.env.Now())
		if err != nil {
			return fmt.Errorf("--as-of: %w: for example 14:30, \"%s\" or -2h", err, last.At.Std().Format("2006-01-02 15:04"))
		}
		if at.Seq != 0 && at.Seq < first.Seq || at.At != 0 && at.At < first.At {
			return fmt.Errorf("%s begins at list %d of %s", r.from, first.Seq, r.time(first))
		}
		if r.summary.Last.List > last.Seq && r.check.Damage == nil && (at.Seq > last.Seq || at.At >= last.At) {
			return fmt.Errorf("%s is damaged: lists %d to %d are missing. Restore with --as-of %d", r.from, last.Seq+1,
				r.summary.Last.List, last.Seq)
		}
		if at.Seq > last.Seq {
			err = fmt.Errorf("list %d is after the end of the log, list %d of %s", at.Seq, last.Seq, r.time(last))
		} else {
			r.last.Seq, err = r.log.At(at)
		}
		if err != nil && r.check.Damage == nil {
			return err
		}
		// The list that cannot be read may not be later than the time either.
		beyond = err != nil || at.At != 0 && r.last.Seq >= r.check.Last.Seq
	}
	good := r.check.Last
	if len(r.check.States) > 0 {
		state := r.check.States[0]
		if state.Err != nil {
			return fmt.Errorf("the stored state in %s cannot be used: %w. Use another backup", r.from, state.Err)
		}
		if r.check.Damage != nil && good.Seq < state.Mark.Seq && state.Point.Seq < state.Mark.Seq {
			return fmt.Errorf("%s is damaged: %w. That is at the stored state: use another backup", r.from, r.check.Damage)
		}
		if good.Seq < state.Mark.Seq {
			good = state.Mark
		}
	}
	if r.check.Damage != nil && (beyond || good.Seq < r.last.Seq) {
		return fmt.Errorf("%s is damaged: %w. Before it, it is good up to list %d: restore with --as-of %d", r.from,
			r.check.Damage, good.Seq, good.Seq)
	}
	return nil
}

// intact compares the files of the backup with what was written. With --as-of only the lists have to be good, which
// choose has looked at: what is wrong with other files is printed.
func (r *restore) intact(asOf string) error {
	bad, err := r.summary.Damages(r.from, nil)
	if err != nil {
		return err
	}
	if own := (history.FileDamage{}); errors.As(r.summary.damage, &own) {
		bad = append(bad, own)
	}
	if asOf == "" && len(bad) > 0 {
		return fmt.Errorf(
			"%w. Its event lists are good up to list %d: restore with --as-of %d, which takes other files as they are",
			joined(bad), r.last.Seq, r.last.Seq)
	}
	for _, damage := range bad {
		if !strings.HasPrefix(damage.Name, history.SegmentsDir) {
			fmt.Fprintf(r.env.Stderr, "quill restore: %v: it is taken as it is\n", damage)
		}
	}
	return nil
}

func (r *restore) time(m history.Mark) string {
	return m.At.Std().In(r.env.Now().Location()).Format(stamp)
}

// files puts back what is not in the log.
func (r *restore) files() error {
	err := copyDir(filepath.Join(r.made.Dir(), keysDir), filepath.Join(r.from, keysDir))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	except := uncopied(r.made)
	if r.summary.Root != r.to.Root || r.summary.Cell != r.to.Name { // qmaster makes those that name the cell
		except = append(except, "settings.sh", "settings.csh")
	}
	if err := copyDir(r.made.Common(), filepath.Join(r.from, commonDir), except...); err != nil {
		return err
	}
	// Until qmaster runs here no program shall look for it on the host that it had.
	if err := os.Remove(r.made.ActQMaster()); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for _, path := range []string{r.made.Accounting(), r.made.AccountingJSON()} {
		if err := copyWhole(path, filepath.Join(r.from, commonDir, filepath.Base(path))); err != nil &&
			!errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	records, err := recordsOf(r.log, r.last.Seq)
	if err != nil {
		return err
	}
	return records.complete(r.made)
}

// lists puts back the log, and adds the list with which the cell continues.
func (r *restore) lists() error {
	segments := filepath.Join(r.made.Dir(), history.SegmentsDir)
	if err := os.Mkdir(segments, 0o700); err != nil {
		return err
	}
	fresh := filepath.Join(segments, "new")
	first, _ := r.log.Span()
	err := archive.ReplaceBy(fresh, 0o600, func(out io.Writer) error {
		buffered := bufio.NewWriterSize(out, 1<<20)
		return errors.Join(r.log.Export(
			buffered, history.Export{Kept: true, From: first.Seq, To: r.last.Seq, About: r.log.About()}), buffered.Flush())
	})
	if err != nil {
		return err
	}
	copied, err := history.Open(r.env.Context, history.Source{File: fresh})
	if err != nil {
		return err
	}
	defer copied.Close()
	if said := copied.About().PassedOver; said != "" {
		fmt.Fprintf(r.env.Stderr, "quill restore: %s\n", said)
	}
	check := copied.Check()
	if check.Damage != nil || check.End.Seq != r.last.Seq {
		return fmt.Errorf("what was written ends at list %d, not at list %d: %w", check.End.Seq, r.last.Seq, check.Damage)
	}
	_, r.last = copied.Span()
	r.after = check.Lists
	if r.state, err = copied.Full(r.last.Seq); err != nil {
		return err
	}
	if err := os.Rename(fresh, filepath.Join(segments, archive.SegmentName(check.Begin.Stream, check.End.Stream))); err !=
		nil {
		return err
	}
	end, err := r.continued(segments, check.End)
	if err != nil {
		return err
	}
	snapshots, err := archive.OpenSnapshots(filepath.Join(r.made.Dir(), history.SnapshotsDir))
	if err == nil {
		err = snapshots.Write(end, history.Chunks(r.state))
	}
	if err == nil {
		err = bus.MakeLog(filepath.Join(r.made.Dir(), history.StoreDir), end.Stream+1)
	}
	return err
}

// reignsSkipped is how many qmasters may have led the cell between a backup and its restoration: hosts follow none with
// an older epoch.
const reignsSkipped = 1 << 16

// continued writes the take-over of the restored cell and its first list, core.Restored, after a point, and returns the
// end.
func (r *restore) continued(segments string, after frame.Point) (end frame.Point, err error) {
	var random [4]byte
	rand.Read(random[:])
	epoch := frame.NewEpoch(after.Epoch+reignsSkipped<<32, binary.BigEndian.Uint32(random[:]))
	who, err := cell.Me()
	if err != nil {
		return end, err
	}
	list := core.Restored(r.state, grid.TimeOf(r.env.Now()), who+"@"+r.env.Host, r.skip)
	r.state.Apply(list)
	frames := []frame.Frame{
		{Flags: frame.TakeOver, First: after.Seq + 1, Last: after.Seq},
		{Count: 1, First: list.Seq, Last: list.Seq, Payload: codec.AppendList(nil, list)},
	}
	end = after
	name := archive.SegmentName(after.Stream+1, after.Stream+uint64(len(frames)))
	err = archive.ReplaceBy(filepath.Join(segments, name), 0o600, func(out io.Writer) error {
		w, err := archive.NewWriter(out)
		if err != nil {
			return err
		}
		for i := range frames {
			f := &frames[i]
			f.Epoch, f.Prev, f.Before, f.Stream = epoch, end.Stream, end.Hash, end.Stream+1
			frame.Append(nil, f)
			if err := w.Frame(f.Stream, f.Raw); err != nil {
				return err
			}
			end = f.End()
		}
		return w.Close()
	})
	return end, err
}

func (r *restore) print(json bool) error {
	if json {
		begin, _ := r.log.Span()
		first, last := document.MarkOf(begin.Seq, begin.At), document.MarkOf(r.last.Seq, r.last.At)
		return document.Write(r.env.Stdout, document.LogCopy{Path: r.to.Dir(), Lists: r.after, First: &first, Last: &last})
	}
	running := 0
	r.state.Each(grid.KindJATask, func(o grid.Object) bool {
		if o.(*grid.JATask).Started() {
			running++
		}
		return true
	})
	_,
		err := fmt.Fprintf(r.env.Stdout, "%s: cell %s as of list %d of %s: %s, %s running. The next job has the number %d\n",
		r.to.Dir(), r.to.Name,
		r.last.Seq, r.time(r.last), opt.Count(r.state.Len(grid.KindJob), "job"), opt.Count(running, "task"),
		r.state.Counter(grid.JobSeqNum)+1)
	return err
}
