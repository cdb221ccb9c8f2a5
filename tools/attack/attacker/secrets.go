package attacker

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/quill-grid/quill/pkg/bus"
	"github.com/quill-grid/quill/pkg/codec"
	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/grid"
)

// secrets reads all that its role is sent.
var secrets = Attack{
	Name: "secrets", Usage: "searches everything its role is sent for the scripts and environments of others",
	Roles: AsAnybody, Short: true, Run: findSecrets,
}

func findSecrets(ctx context.Context, f *Field) error {
	conn, err := f.connect()
	if err != nil {
		return err
	}
	defer conn.Close()
	for _, subject := range []string{"ge.feed", "ge.events", ">", "ge.>", "ge.cmd.>", "ge.reg.>", "ge.host.>", "ge.ev.>",
		"ge.debug.>", "_INBOX_>", "_INBOX.>",
		"_INBOX_" + (bus.Identity{Role: bus.User, Name: f.Honest}).Word() + ".>", "$JS.>", "$SYS.>"} {
		stop, err := conn.Subscribe(subject, func(at string, data []byte) { f.search("message at "+general(at), data) })
		f.count(err)
		if err == nil {
			defer stop()
		}
	}
	all := func(where string) func([]byte) error {
		return func(chunk []byte) error {
			f.search(where, chunk)
			return nil
		}
	}
	for ctx.Err() == nil {
		_, err := f.stream(ctx, conn, bus.RegSubject(conn.Identity()), nil, all("full state of an event client"))
		f.count(err)
		for _, k := range grid.Kinds {
			_, err := f.stream(ctx, conn, bus.CmdSubject(conn.Identity(), "get"), get(gdi.Where{}, k.Kind),
				all("listing of "+k.Name))
			f.count(err)
		}
		h := codec.AppendRequest(
			nil, gdi.Request{ID: fmt.Sprint(time.Now().UnixNano()), Command: "quill", Body: &gdi.History{}})
		_, err = f.stream(ctx, conn, bus.CmdSubject(conn.Identity(), "history"), h, all("history"))
		f.count(err)
		if f.Socket {
			for _, words := range [][]string{{"qstat", "-j", "*"}, {"qacct", "-j"}} {
				out, err := f.run(ctx, words[0], words[1:]...)
				f.search(strings.Join(words, " "), []byte(out))
				f.count(err)
			}
		}
		f.pause(ctx, 300*time.Millisecond)
	}
	return nil
}

// general is a subject without what differs from time to time.
func general(subject string) string {
	part := strings.Split(subject, ".")
	return strings.Join(part[:min(2, len(part))], ".")
}

// stream asks for what is answered in chunks.
func (f *Field) stream(
	ctx context.Context, conn *bus.Conn, subject string, data []byte, each func([]byte) error,
) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, CommandMax)
	defer cancel()
	last, err := conn.RequestStream(ctx, subject, data, each)
	if err == nil {
		f.search("answer at "+general(subject), last)
	}
	return last, err
}

// StolenName is the name of a job that is submitted in the name of another user.
const StolenName = "stolen"

// impersonation asks in the name of others.
var impersonation = Attack{
	Name:  "impersonation",
	Usage: "a host's and a scheduler's key submit, alter and delete as users; names of others in the payload",
	Roles: AsDaemon, Short: true, Run: impersonate,
}

func impersonate(ctx context.Context, f *Field) error {
	for _, as := range []string{"", f.Honest} {
		o := f.network()
		if as != "" {
			o.Seed += Namesake
			o.Identity.Name = as
		}
		conn, err := bus.Connect(o)
		if err != nil {
			f.refused()
			continue
		}
		bodies, err := f.bodies(f.Jobs[0], "*")
		if err != nil {
			return err
		}
		for _, b := range bodies {
			switch b := b.(type) {
			case *gdi.Submit:
				b.Job.Name, b.Job.Owner, b.Job.UID = StolenName, f.Honest, 0
			case *gdi.Get, *gdi.Wait, *gdi.History, *gdi.Verify, *gdi.Explain:
				continue // to read is the matter of another attack
			}
			asking, cancel := context.WithTimeout(ctx, 2*time.Second)
			reply, err := f.reply(asking, conn, b)
			cancel()
			if err == nil && reply.OK() && len(reply.Answers) > 0 {
				f.did()
				f.breach("the key of a %s was granted the request %s", f.Role, b.Verb())
			} else {
				f.refused()
			}
		}
		conn.Close()
	}
	f.pause(ctx, 200*time.Millisecond)
	return nil
}

// others does to others' jobs and to the cell what only their owners may.
var others = Attack{
	Name: "others", Usage: "deletes, alters, holds and suspends others' jobs, changes the configuration, stops daemons",
	Roles: AsUser, Local: true, Short: true, Run: disturbOthers,
}

func disturbOthers(ctx context.Context, f *Field) error {
	id := fmt.Sprint(f.Jobs[0])
	for _, words := range [][]string{
		{"qdel", id}, {"qdel", "-f", id}, {"qdel", "-u", f.Honest}, {"qalter", "-N", "x", id}, {"qhold", id},
		{"qrls", "-h", "s", id}, {"qmod", "-sj", id},
		{"qmod", "-rj", id}, {"qmod", "-d", "all.q"}, {"qmod", "-c", "*"}, {"qresub", id}, {"qconf", "-am", f.Name},
		{"qconf", "-dq", "all.q"},
		{"qconf", "-mattr", "queue", "prolog", "root@/tmp/x", "all.q"}, {"qconf", "-km"}, {"qconf", "-ks"},
		{"qconf", "-ke", f.Hosts[0]}, {"qconf", "-as", "evil"},
		{"quill", "down"}, {"qsub", "-P", "other", "-b", "y", "true"}, {"qsub", "-p", "1000", "-h", "-b", "y", "true"},
		{"qsub", "-A", "x:y:z", "-h", "-b", "y", "true"},
	} {
		if ctx.Err() != nil {
			return nil
		}
		out, err := f.run(ctx, words[0], words[1:]...)
		f.count(err)
		f.search(words[0], []byte(out))
		if err == nil && words[0] != "qsub" && words[0] != "qdel" && ctx.Err() == nil {
			f.breach("%s was granted: %s", strings.Join(words, " "), strings.TrimSpace(out))
		}
	}
	return nil
}

// files looks for what it can read, write or connect to.
var files = Attack{
	Name:  "files",
	Usage: "looks in the cell's directory and in /proc for files, directories and sockets that are open to others",
	Roles: AsUser, Local: true, Short: true, Run: lookAround,
}

func lookAround(ctx context.Context, f *Field) error {
	me := uint32(os.Getuid())
	top := filepath.Dir(f.Cell.Root)
	err := filepath.WalkDir(top, func(path string, e fs.DirEntry, err error) error {
		if ctx.Err() != nil {
			return fs.SkipAll
		}
		if err != nil {
			f.refused()
			return nil
		}
		var s syscall.Stat_t
		if syscall.Lstat(path, &s) != nil || s.Uid == me {
			if e.IsDir() && s.Uid == me {
				return fs.SkipDir
			}
			return nil
		}
		short := strings.TrimPrefix(path, top+"/")
		const write = 2
		switch kind := s.Mode & syscall.S_IFMT; {
		case kind == syscall.S_IFDIR && s.Mode&syscall.S_ISVTX == 0 && syscall.Access(path, write) == nil:
			f.breach("directory of another user is open for writing: %s", Pattern(short))
		case kind == syscall.S_IFREG && syscall.Access(path, write) == nil:
			f.breach("file of another user is open for writing: %s", Pattern(short))
		case kind == syscall.S_IFREG && s.Size < 16<<20:
			if text, err := os.ReadFile(path); err == nil {
				f.search("file "+Pattern(short), text)
				f.did()
			} else {
				f.refused()
			}
		case kind == syscall.S_IFSOCK && path != f.Cell.Socket() && path != f.Cell.WebSocket():
			if c, err := net.DialTimeout("unix", path, time.Second); err == nil {
				c.Close()
				f.breach("socket of a daemon takes connections of users: %s", Pattern(short))
			}
		}
		return nil
	})
	processes, _ := filepath.Glob("/proc/[0-9]*")
	for _, p := range processes {
		for _, name := range []string{"cmdline", "environ"} {
			if text, err := os.ReadFile(filepath.Join(p, name)); err == nil && !strings.Contains(string(text), "qsub") {
				f.search("/proc/PID/"+name, text)
			}
		}
	}
	for _, path := range f.Closed {
		_, err := os.ReadFile(path)
		f.count(err)
	}
	f.pause(ctx, 200*time.Millisecond)
	return errors.Join(err)
}

// Pattern is a path with numbers replaced: what is open once is open for every job.
func Pattern(path string) string {
	out := []byte(nil)
	for i := range len(path) {
		if c := path[i]; c < '0' || c > '9' {
			out = append(out, c)
		} else if len(out) == 0 || out[len(out)-1] != 'N' {
			out = append(out, 'N')
		}
	}
	return string(out)
}

// Namesake ends the file with the key of another user with the honest user's name.
const Namesake = "-namesake"
