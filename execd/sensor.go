package execd

import (
	"bufio"
	"context"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/hashicorp/go-hclog"
)

// Waits for load sensors.
const (
	sensorAnswer = time.Second     // then the last values stand, and the new ones come with the next sample
	sensorQuit   = 2 * time.Second // then it is killed
)

// sensors are the running load sensors. They belong to the sampler's goroutine.
type sensors struct {
	log     hclog.Logger
	running []*sensor
}

// sensed is one value of a sensor: host:name:value.
type sensed struct{ host, name, value string }

// sensor is one program of the load sensor protocol: an empty line is the request,
// "begin", values and "end" are the answer, "quit" ends it.
type sensor struct {
	path     string
	modified time.Time
	cmd      *exec.Cmd
	stdin    io.WriteCloser
	reports  chan []sensed // closed when it is gone; capacity 1
	gone     chan struct{} // closed when it was waited for
	asked    bool
	last     []sensed
}

// setPaths starts the sensors of paths: others are ended, those that died or whose file
// is newer are started again.
func (l *sensors) setPaths(paths []string) {
	var keep []*sensor
	for _, s := range l.running {
		if slices.Contains(paths, s.path) && s.alive() && modified(s.path).Equal(s.modified) {
			keep = append(keep, s)
			continue
		}
		s.quit()
	}
	l.running = keep
	for _, p := range paths {
		if slices.ContainsFunc(l.running, func(s *sensor) bool { return s.path == p }) {
			continue
		}
		s, err := startSensor(p)
		if err != nil {
			l.log.Error("load sensor does not start", "path", p, "error", err)
			continue
		}
		l.running = append(l.running, s)
	}
}

// ask returns the newest values of all sensors, in their order.
func (l *sensors) ask(ctx context.Context) []sensed {
	if len(l.running) == 0 {
		return nil
	}
	for _, s := range l.running {
		if !s.asked {
			_, err := io.WriteString(s.stdin, "\n")
			s.asked = err == nil
		}
	}
	late := time.NewTimer(sensorAnswer)
	defer late.Stop()
	var all []sensed
	over := false
	for _, s := range l.running {
		if s.asked && !over {
			select {
			case values, open := <-s.reports:
				if open {
					s.last, s.asked = values, false
				}
			case <-late.C:
				over = true
			case <-ctx.Done():
				return nil
			}
		}
		all = append(all, s.last...)
	}
	return all
}

func (l *sensors) quit() {
	for _, s := range l.running {
		s.quit()
	}
	l.running = nil
}

func startSensor(path string) (*sensor, error) {
	s := &sensor{path: path, modified: modified(path), reports: make(chan []sensed, 1), gone: make(chan struct{})}
	s.cmd = exec.Command(path)
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	stdin, err := s.cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := s.cmd.Start(); err != nil {
		return nil, err
	}
	s.stdin = stdin
	go s.read(out)
	return s, nil
}

// read passes whole reports on until the sensor ends, then waits for it.
func (s *sensor) read(out io.Reader) {
	defer close(s.gone)
	defer s.cmd.Wait()
	defer close(s.reports)
	var values []sensed
	inside := false
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		line := strings.TrimSpace(lines.Text())
		switch {
		case line == "begin" || line == "start":
			inside, values = true, nil
		case line == "end" && inside:
			inside = false
			select {
			case <-s.reports: // the last one was not fetched: newer wins
			default:
			}
			s.reports <- values
		case inside:
			if p := strings.SplitN(line, ":", 3); len(p) == 3 {
				values = append(values, sensed{p[0], p[1], p[2]})
			}
		}
	}
}

func (s *sensor) alive() bool {
	select {
	case <-s.gone:
		return false
	default:
		return true
	}
}

// quit asks the sensor to end, and makes it after a while. It returns when the
// sensor and its children are gone.
func (s *sensor) quit() {
	io.WriteString(s.stdin, "quit\n")
	s.stdin.Close()
	timer := time.NewTimer(sensorQuit)
	defer timer.Stop()
	select {
	case <-s.gone:
	case <-timer.C:
	}
	syscall.Kill(-s.cmd.Process.Pid, syscall.SIGKILL)
	<-s.gone
}

func modified(path string) time.Time {
	info, err := os.Stat(path)
	if err != nil {
		return time.Time{}
	}
	return info.ModTime()
}
