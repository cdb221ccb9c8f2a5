package execd

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/quill-grid/quill/execd/core"
	"github.com/quill-grid/quill/execd/shepherd"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/report"
)

// The host's directory:
//
//	active_jobs/JOB.TASK    one attempt's own folder, the shepherd's; may be elsewhere
//	job_scripts/JOB         the script, for all of the job's tasks
//	mail/JOB.TASK.N         recipients of the mail at the end of an attempt
//	shepherd/               the shepherd's journal and socket
//	tmpdirs                 the directories that hold the TMPDIRs of jobs
//	epoch                   of the qmaster that is followed: an older one is refused
//	execd.lock              held by the execd that runs here

func shepherdDir(dir string) string { return shepherd.DirUnder(dir) }

// makeSpool makes the host's directories and returns their locks, held until
// they are closed.
func makeSpool(dir, active string) ([]*os.File, error) {
	if err := makeDirs(dir, active); err != nil {
		return nil, err
	}
	lock, err := os.OpenFile(filepath.Join(dir, "execd.lock"), os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, err
	}
	// Nor may an execd of another cell use the same directory for running jobs: each would remove the other's.
	folder, err := os.Open(active)
	for _, l := range []struct {
		file *os.File
		path string
	}{{lock, dir}, {folder, active}} {
		if err == nil && unix.Flock(int(l.file.Fd()), unix.LOCK_EX|unix.LOCK_NB) != nil {
			err = fmt.Errorf("%s: another execd runs here", l.path)
		}
	}
	if err != nil {
		lock.Close()
		folder.Close()
		return nil, err
	}
	return []*os.File{lock, folder}, nil
}

func makeDirs(dir, active string) error {
	for _, d := range []struct {
		path string
		mode os.FileMode
	}{{active, 0o755}, {filepath.Join(dir, "job_scripts"), 0o755}, {filepath.Join(dir, "mail"), 0o700},
		{shepherdDir(dir), 0o700}} {
		if err := os.MkdirAll(d.path, d.mode); err != nil {
			return err
		}
	}
	return nil
}

// spoolScripts writes scripts, each to be read by its owner only, and returns
// the jobs whose script could not be written.
func (d *daemon) spoolScripts(jobs []*grid.Job, account func(string) (core.Account, error)) map[uint32]error {
	var failed map[uint32]error
	for _, j := range jobs {
		path := d.site.ScriptPath(j.ID)
		os.Remove(path + ".new") // of an execd that was killed: its owner may have it open
		err := os.WriteFile(path+".new", j.Spec.Script, 0o700)
		if a, unknown := account(j.Owner); err == nil && unknown == nil && os.Geteuid() == 0 {
			err = os.Lchown(path+".new", int(a.UID), int(a.GID))
		}
		if err == nil {
			err = os.Rename(path+".new", path)
		}
		if err != nil {
			os.Remove(path + ".new") // room for others
			if failed == nil {
				failed = map[uint32]error{}
			}
			failed[j.ID] = fmt.Errorf("can't write job script: %w", err)
		}
	}
	return failed
}

func (d *daemon) removeScripts(jobs []uint32) {
	for _, j := range jobs {
		if err := os.Remove(d.site.ScriptPath(j)); err != nil && !os.IsNotExist(err) {
			d.Logger.Warn("job script stays", "error", err)
		}
	}
}

func (d *daemon) notePath(a report.Attempt) string {
	return filepath.Join(d.Dir, "mail", a.String())
}

func (d *daemon) saveNotes(notes []core.Note) {
	for i := range notes {
		data, err := json.Marshal(&notes[i])
		if err == nil {
			err = os.WriteFile(d.notePath(notes[i].Attempt), data, 0o600)
		}
		if err != nil {
			d.Logger.Warn("mail at the end of a job may be lost", "job", notes[i].Attempt, "error", err)
		}
	}
}

func (d *daemon) removeNotes(as []report.Attempt) {
	for _, a := range as {
		if err := os.Remove(d.notePath(a)); err != nil && !os.IsNotExist(err) {
			d.Logger.Warn("mail note stays", "error", err)
		}
	}
}

func (d *daemon) epochPath() string { return filepath.Join(d.Dir, "epoch") }

// saveEpoch writes the epoch so that it survives a power cut.
func (d *daemon) saveEpoch(epoch uint64) {
	path := d.epochPath()
	f, err := os.OpenFile(path+".new", os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o644)
	if err == nil {
		_, err = fmt.Fprintln(f, epoch)
		err = errors.Join(err, f.Sync(), f.Close())
	}
	if err == nil {
		err = os.Rename(path+".new", path)
	}
	if err != nil {
		d.Logger.Warn("cannot save the epoch: commands of a superseded qmaster may be accepted", "error", err)
	}
}

// restoreSpool returns what an earlier execd stored.
func (d *daemon) restoreSpool() core.Restored {
	var left core.Restored
	if text, err := os.ReadFile(d.epochPath()); err == nil {
		if left.Epoch, err = strconv.ParseUint(strings.TrimSpace(string(text)), 10, 64); err != nil {
			d.Logger.Warn("epoch unreadable", "file", d.epochPath(), "error", err)
		}
	}
	scripts, _ := os.ReadDir(filepath.Join(d.Dir, "job_scripts"))
	for _, f := range scripts {
		if id, err := strconv.ParseUint(f.Name(), 10, 32); err == nil {
			left.Scripts = append(left.Scripts, uint32(id))
		}
	}
	slices.Sort(left.Scripts)
	notes, _ := os.ReadDir(filepath.Join(d.Dir, "mail"))
	for _, f := range notes {
		var n core.Note
		data, err := os.ReadFile(filepath.Join(d.Dir, "mail", f.Name()))
		if err == nil {
			err = json.Unmarshal(data, &n)
		}
		if err != nil {
			d.Logger.Warn("mail note unreadable", "file", f.Name(), "error", err)
			continue
		}
		left.Notes = append(left.Notes, n)
	}
	return left
}
