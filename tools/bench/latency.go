package bench

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"github.com/quill-grid/quill/pkg/client"
	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/submit"
)

// latency measures, job by job in a cell that has nothing else to do, the time
// from before the submit until the process at the other end of a named pipe has
// read what the job's shell wrote there first. Nothing is subtracted. The limit
// is one appended and synced record, and the same program started directly and
// read in the same way.
func latency(ctx context.Context, r *suite) (err error) {
	s, err := r.newSite()
	if err != nil {
		return err
	}
	defer s.close(&err)
	n, durable := or(r.Jobs, 150), r.durable(true)
	if _,
		err := s.start(ctx, processPart{Role: "cell", Hosts: or(r.Hosts, 1), Slots: or(r.Slots, 8), Durable: durable}); err !=
		nil {
		return err
	}
	p, err := newPipe(filepath.Join(s.dir, "started"))
	if err != nil {
		return err
	}
	defer p.Close()
	c, err := client.Connect(ctx, s.where)
	if err != nil {
		return err
	}
	defer c.Close()
	words := []string{"/bin/sh", "-c", "echo >" + p.Name()}
	var took, direct durations
	for i := range n + warmUp {
		job, err := s.toFirstInstruction(ctx, c, p, words)
		if err != nil {
			return err
		}
		bare, err := s.directly(p, words)
		if err != nil {
			return err
		}
		if i >= warmUp {
			took, direct = append(took, job), append(direct, bare)
		}
	}
	r.figure(Figure{
		Case: "idle", Value: took.at(0.5), Unit: "ms", Limit: direct.at(0.5), Goal: goal{atMost: 15, ratioAtMost: 5},
		Facts: []fact{
			{"p50_ms", took.at(0.5)}, {"p99_ms", took.at(0.99)}, {"limit_p99_ms", direct.at(0.99)}, {"jobs", n},
			{"durable", durable},
		},
	})
	return nil
}

// warmUp is how many first jobs do not count.
const warmUp = 5

// toFirstInstruction runs one job. It returns when the job is over, so that the
// cell is idle again.
func (s *site) toFirstInstruction(
	ctx context.Context, c client.Client, p *pipe, words []string,
) (time.Duration, error) {
	job, err := submit.Job(s.env.Origin(), words...)
	if err != nil {
		return 0, err
	}
	begun := time.Now()
	reply, err := c.Do(ctx, "qsub", &gdi.Submit{Job: job})
	if err == nil && !reply.OK() {
		err = fmt.Errorf("submit: %s", reply.Answers[0].Text)
	}
	if err != nil {
		return 0, err
	}
	at, err := p.nextJob()
	if err != nil {
		return 0, err
	}
	return at.Sub(begun), do(ctx, c, "qsub", &gdi.Wait{Job: reply.Job, For: "ended"})
}

// directly is what the machine takes for that at best.
func (s *site) directly(p *pipe, words []string) (time.Duration, error) {
	f, err := os.OpenFile(filepath.Join(s.dir, "synced"), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	record := make([]byte, frameBytes)
	cmd := exec.Command(words[0], words[1:]...)
	begun := time.Now()
	if _, err := f.Write(record); err != nil {
		return 0, err
	}
	if err := f.Sync(); err != nil {
		return 0, err
	}
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	at, err := p.nextJob()
	if err != nil {
		return 0, err
	}
	return at.Sub(begun), cmd.Wait()
}

// pipe is a named pipe by which a job says that it runs.
type pipe struct{ *os.File }

// eventMax is how long a job that was submitted may keep silent.
const eventMax = 30 * time.Second

func newPipe(path string) (*pipe, error) {
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(path, os.O_RDWR, 0) // to write as well: it has no end then
	return &pipe{f}, err
}

// nextJob returns when the next job wrote something.
func (p *pipe) nextJob() (time.Time, error) {
	if err := p.SetReadDeadline(time.Now().Add(eventMax)); err != nil {
		return time.Time{}, err
	}
	var line [1]byte
	_, err := p.Read(line[:])
	return time.Now(), err
}
