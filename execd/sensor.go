package execd

import (
	"bufio"
	"context"
	"io"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/quill-grid/quill/execd/shepherd"
	"github.com/quill-grid/quill/pkg/grid"
)

// Waits for load sensors.
const (
	sensorAnswer = time.Second     // then the last values stand, and the new ones come with the next sample
	sensorQuit   = 2 * time.Second // then it is killed
)

// sensors are the running load sensors. They belong to the sampler's goroutine.
type sensors struct {
	log      hclog.Logger
	priority shepherd.NiceLevel
	running  []*sensor
	wanted   []string          // their paths
	faults   map[string]string // by path: why a sensor has reported nothing
}

// sensorValue is one value of a sensor: host:name:value.
type sensorValue struct{ host, name, value string }

// sensor is one program of the load sensor protocol: an empty line is the request,
// "begin", values and "end" are the answer, "quit" ends it.
type sensor struct {
	path     string
	modified time.Time
	cmd      *exec.Cmd
	stdin    io.WriteCloser
	reports  chan []sensorValue // closed when it is gone; capacity 1
	gone     chan struct{}      // closed when it was waited for
	asked    bool
	waited   bool // it was asked for an earlier sample and has not answered yet
	last     []sensorValue
	ended    error // how it ended, once it is gone
}

// setPaths starts the sensors of paths: others are ended, those that died or whose file
// is newer are started again.
func (l *sensors) setPaths(paths []string) {
	l.wanted = paths
	maps.DeleteFunc(l.faults, func(path, _ string) bool { return !slices.Contains(paths, path) })
	var keep []*sensor
	for _, s := range l.running {
		if !s.isAlive() {
			l.recordFault(s.path, "ended without a report: "+exitText(s.ended))
		}
		if slices.Contains(paths, s.path) && s.isAlive() && modTime(s.path).Equal(s.modified) {
			keep = append(keep, s)
			continue
		}
		s.stop()
	}
	l.running = keep
	for _, p := range paths {
		if slices.ContainsFunc(l.running, func(s *sensor) bool { return s.path == p }) {
			continue
		}
		s, err := startSensor(p, l.priority)
		if err != nil {
			l.recordFault(p, "does not start: "+err.Error())
			continue
		}
		l.running = append(l.running, s)
	}
}

// askAll returns the newest values of all sensors, in their order.
func (l *sensors) askAll(ctx context.Context) []sensorValue {
	if len(l.running) == 0 {
		return nil
	}
	for _, s := range l.running {
		if s.waited = s.asked; !s.asked {
			_, err := io.WriteString(s.stdin, "\n")
			s.asked = err == nil
		}
	}
	late, cancel := context.WithTimeout(ctx, sensorAnswer)
	defer cancel()
	var all []sensorValue
	for _, s := range l.running {
		switch {
		case s.asked && s.hasAnswered(late):
			l.clearFault(s)
		case ctx.Err() != nil:
			return nil
		case s.waited && s.isAlive():
			l.recordFault(s.path, "does not answer")
		}
		all = append(all, s.last...)
	}
	return all
}

// hasAnswered takes the answer of a sensor that comes before late ends, or is there: one that is silent takes no time
// from the others.
func (s *sensor) hasAnswered(late context.Context) bool {
	var values []sensorValue
	open := false
	select {
	case values, open = <-s.reports:
	default:
		select {
		case values, open = <-s.reports:
		case <-late.Done():
		}
	}
	if open {
		s.last, s.asked = values, false
	}
	return open
}

// recordFault records why a sensor has reported nothing. Each reason is logged once.
func (l *sensors) recordFault(path, why string) {
	if l.faults == nil {
		l.faults = map[string]string{}
	}
	if l.faults[path] != why {
		l.faults[path] = why
		l.log.Error("load sensor reports nothing", "path", path, "reason", why)
	}
}

// clearFault takes the fault back of a sensor that has reported values.
func (l *sensors) clearFault(s *sensor) {
	if len(s.last) == 0 {
		l.recordFault(s.path, "its report has no line HOST:NAME:VALUE")
		return
	}
	if _, had := l.faults[s.path]; had {
		delete(l.faults, s.path)
		l.log.Info("load sensor reports again", "path", s.path)
	}
}

// faultText returns the faults in the order of the sensors, "" for none.
func (l *sensors) faultText() string {
	var all []string
	for _, path := range l.wanted {
		if why, is := l.faults[path]; is {
			all = append(all, path+" "+why)
		}
	}
	return grid.Printable(strings.Join(all, "; "))
}

func exitText(err error) string {
	if err == nil {
		return "exit status 0"
	}
	return err.Error()
}

func (l *sensors) stopAll() {
	for _, s := range l.running {
		s.stop()
	}
	l.running = nil
}

func startSensor(path string, lead shepherd.NiceLevel) (*sensor, error) {
	s := &sensor{path: path, modified: modTime(path), reports: make(chan []sensorValue, 1), gone: make(chan struct{})}
	s.cmd = exec.Command(path)
	stdin, err := s.cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := lead.Start(s.cmd); err != nil {
		return nil, err
	}
	s.stdin = stdin
	go s.readValues(out)
	return s, nil
}

// readValues passes whole reports on until the sensor ends, then waits for it.
func (s *sensor) readValues(out io.Reader) {
	defer close(s.gone)
	defer func() { s.ended = s.cmd.Wait() }()
	defer close(s.reports)
	var values []sensorValue
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
				values = append(values, sensorValue{p[0], p[1], p[2]})
			}
		}
	}
}

func (s *sensor) isAlive() bool {
	select {
	case <-s.gone:
		return false
	default:
		return true
	}
}

// stop asks the sensor to end, and makes it after a while. It returns when the
// sensor and its children are gone.
func (s *sensor) stop() {
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

func modTime(path string) time.Time {
	info, err := os.Stat(path)
	if err != nil {
		return time.Time{}
	}
	return info.ModTime()
}
