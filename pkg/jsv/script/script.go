package script

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/quill-grid/quill/pkg/jsv"
)

// DefaultTimeout is how long a verifier may take for a job if nothing is configured.
const DefaultTimeout = 10 * time.Second

// Script is a verifier. One goroutine uses it at a time; Close ends its process.
type Script struct {
	URL     jsv.URL
	Dir     string               // where it runs
	Env     []string             // NAME=VALUE, beside this process's own
	Timeout time.Duration        // for one job; 0: DefaultTimeout
	Log     func(jsv.LogMessage) // receives its LOG lines; may be nil

	running *scriptProcess
	file    os.FileInfo // what runs
}

// errSilent: the script has died or does not answer.
var errSilent = errors.New("silent")

// Verify has the script verify a job. It fails when the job is rejected for an error of
// the script, not by its result. A script that is silent is started once more.
func (s *Script) Verify(ctx context.Context, w jsv.JobDescription) (jsv.Result, error) {
	v, err := s.try(ctx, w)
	if errors.Is(err, errSilent) && ctx.Err() == nil {
		v, err = s.try(ctx, w)
	}
	if errors.Is(err, errSilent) {
		err = fmt.Errorf("got no response from JSV script %q", s.URL.Path)
	}
	return v, err
}

func (s *Script) try(ctx context.Context, w jsv.JobDescription) (v jsv.Result, err error) {
	if err := s.ready(); err != nil {
		return v, err
	}
	defer func() {
		if err != nil {
			s.kill()
		}
	}()
	ctx, cancel := context.WithTimeout(ctx, s.timeout())
	defer cancel()
	d, lines := jsv.Begin(w)
	for {
		if err := s.running.send(ctx, lines); err != nil {
			return v, err
		}
		line, err := s.running.receive(ctx)
		if err != nil {
			return v, err
		}
		turn, err := d.Receive(line)
		if err != nil {
			return v, err
		}
		if turn.Log != nil && s.Log != nil {
			s.Log(*turn.Log)
		}
		if turn.Done {
			return d.Result, nil
		}
		lines = turn.Send
	}
}

// ready has the process that the file says now.
func (s *Script) ready() error {
	file, err := os.Stat(s.URL.Path)
	if err != nil || !file.Mode().IsRegular() || file.Mode()&0o111 == 0 {
		s.Close()
		return jsv.Unusable(s.URL.Path)
	}
	if s.running != nil {
		same := os.SameFile(file, s.file) && file.ModTime().Equal(s.file.ModTime()) && file.Size() == s.file.Size()
		if same && s.running.alive() {
			return nil
		}
		s.Close()
	}
	s.running, err = start(s.URL, s.Dir, s.Env)
	s.file = file
	return err
}

func (s *Script) timeout() time.Duration {
	if s.Timeout > 0 {
		return s.Timeout
	}
	return DefaultTimeout
}

// Close sends QUIT to the script, and kills it if it does not end.
func (s *Script) Close() {
	if s.running == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), s.timeout())
	defer cancel()
	s.running.quit(ctx)
	s.kill()
}

func (s *Script) kill() {
	if s.running != nil {
		s.running.kill()
		s.running = nil
	}
}
