package attack

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/quill-grid/quill/execd/shepherd"
	"github.com/quill-grid/quill/pkg/bus"
	"github.com/quill-grid/quill/pkg/cell"
	"github.com/quill-grid/quill/pkg/client"
	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/opt"
	"github.com/quill-grid/quill/pkg/userdb"
	"github.com/quill-grid/quill/tools/attack/attacker"
	"github.com/quill-grid/quill/tools/keys"
)

// site is a throw-away cell: a directory, and the processes that live in it.
type site struct {
	env   opt.Env
	dir   string
	where cell.Cell
	url   string

	root             bool     // this process is root's
	honest, attacker *account // without root both are the account of this process
	hosts            []string
	nice             int                 // of what is on other machines in a real cell; see elsewhere
	groups           [machines]string    // and its control groups; "": it has none
	keys             map[bus.Role]string // files of the attacker's keys
	names            map[bus.Role]string // and whose they are

	daemons []*daemon

	web, mcp, metrics string // addresses of quill web, quill mcp and of qmaster's metrics
	tokens            struct{ honest, attacker, read, agent string }
	cookie            string   // of the honest user's session of the console
	sleepers          []uint32 // the honest user's jobs that run all the time
	numbered          int      // its submissions over HTTP
	orphanTime        string   // argument of the processes that outlive a job of the attacker
}

// qmasterLimit is the memory that qmaster is given. A cell of this size needs less; an attack reaches it within
// seconds.
const qmasterLimit = "256MiB"

// account is a user of this machine.
type account struct {
	name, home string
	uid, gid   uint32
}

// slots are so many on each host that neither user can take all: a quota leaves the
// other one half. What is measured is not the site's policy.
const (
	slots    = 300
	slotsMax = slots // of both hosts for one user
)

// newSite makes the directory with the programs, and the homes of both users.
func newSite(env opt.Env, honest, attacker string, nice int) (s *site, err error) {
	s = &site{env: env, nice: nice, root: os.Getuid() == 0, hosts: []string{"node1", "node2"}}
	if s.honest, s.attacker, err = s.users(honest, attacker); err != nil {
		return nil, err
	}
	if s.dir, err = os.MkdirTemp("", "quill-attack-"); err != nil {
		return nil, err
	}
	s.where = cell.Cell{Root: filepath.Join(s.dir, "cell"), Name: cell.DefaultName}
	if err := s.furnish(); err != nil {
		return nil, errors.Join(err, os.RemoveAll(s.dir))
	}
	if s.root && nice > 0 {
		s.makeGroups()
	}
	return s, nil
}

// users are the accounts of the honest user and of the attacker.
func (s *site) users(honest, attacker string) (*account, *account, error) {
	if !s.root {
		me, err := userdb.Current()
		if err != nil {
			return nil, nil, err
		}
		one := accountOf(me)
		return one, one, nil
	}
	for _, name := range ordinaryUsers() {
		switch {
		case honest == "" && name != attacker:
			honest = name
		case attacker == "" && name != honest:
			attacker = name
		}
	}
	if honest == "" || attacker == "" || honest == attacker {
		return nil, nil,
			errors.New("the attack needs two accounts without privileges: name them with --honest and --attacker")
	}
	var both [2]*account
	for i, name := range []string{honest, attacker} {
		u, err := userdb.Lookup(name)
		if err != nil {
			return nil, nil, err
		}
		if both[i] = accountOf(u); both[i].uid == 0 {
			return nil, nil, fmt.Errorf("%s is root", name)
		}
	}
	return both[0], both[1], nil
}

// ordinaryUsers are the accounts of persons, and at the end those that every system has.
func ordinaryUsers() (names []string) {
	text, _ := os.ReadFile("/etc/passwd")
	for line := range strings.Lines(string(text)) {
		fields := strings.Split(line, ":")
		if len(fields) > 2 {
			if uid, err := strconv.Atoi(fields[2]); err == nil && uid >= 1000 && uid < 60000 {
				names = append(names, fields[0])
			}
		}
	}
	return append(names, "nobody", "daemon")
}

func accountOf(u *userdb.Account) *account {
	uid, _ := strconv.ParseUint(u.Uid, 10, 32)
	gid, _ := strconv.ParseUint(u.Gid, 10, 32)
	return &account{name: u.Username, uid: uint32(uid), gid: uint32(gid)}
}

// furnish fills the directory. Others may look around in it, as in an installed
// cell: the programs are run by all.
func (s *site) furnish() error {
	if err := os.Chmod(s.dir, 0o755); err != nil {
		return err
	}
	bin := filepath.Join(s.dir, "bin")
	for _, dir := range []string{bin, filepath.Join(s.dir, "log"), s.where.Root, filepath.Join(s.dir, "keys"), s.tmp()} {
		if err := os.Mkdir(dir, 0o755); err != nil {
			return err
		}
	}
	if err := os.Chmod(s.tmp(), 0o777|os.ModeSticky); err != nil {
		return err
	}
	for _, name := range []string{"quill", "quill-daemon", "quill-lab"} {
		path, err := opt.Program(name)
		if err != nil {
			return err
		}
		if err := copyProgram(filepath.Join(bin, name), path); err != nil {
			return err
		}
	}
	for role, a := range map[string]*account{"honest": s.honest, "attacker": s.attacker} {
		home := filepath.Join(s.dir, role)
		if err := os.Mkdir(home, 0o700); err != nil {
			return err
		}
		if err := s.own(home, a); err != nil {
			return err
		}
		a.home = home
	}
	return nil
}

func copyProgram(to, from string) error {
	text, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return errors.Join(os.WriteFile(to, text, 0o755), os.Chmod(to, 0o755))
}

// own makes a file an account's.
func (s *site) own(path string, a *account) error {
	if !s.root {
		return nil
	}
	return os.Lchown(path, int(a.uid), int(a.gid))
}

func (s *site) tmp() string   { return filepath.Join(s.dir, "tmp") }
func (s *site) quill() string { return filepath.Join(s.dir, "bin", "quill") }
func (s *site) lab() string   { return filepath.Join(s.dir, "bin", "quill-lab") }

// dialAs connects as an account, so that the other end sees whose connection it is: root has places of its own.
func (s *site) dialAs(ctx context.Context, a *account, network, address string) (conn net.Conn, err error) {
	const same = ^uintptr(0)
	become := func(uid uint32) bool { // of this thread alone
		_, _, failed := syscall.RawSyscall(syscall.SYS_SETRESUID, same, uintptr(uid), same)
		return failed == 0
	}
	if s.root {
		runtime.LockOSThread()
		if !become(a.uid) {
			runtime.UnlockOSThread()
			return nil, fmt.Errorf("no connection as %s can be made", a.name)
		}
		defer func() {
			if become(0) { // else the thread ends with its goroutine
				runtime.UnlockOSThread()
			}
		}()
	}
	return new(net.Dialer).DialContext(ctx, network, address)
}

// as has a process run as an account.
func (s *site) as(cmd *exec.Cmd, a *account) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if s.root && a != nil {
		cmd.SysProcAttr.Credential = &syscall.Credential{Uid: a.uid, Gid: a.gid, Groups: []uint32{a.gid}}
	}
}

// command is one of Grid Engine's commands, run by an account, nil for the
// administrator.
func (s *site) command(ctx context.Context, a *account, name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, s.quill(), args...)
	cmd.Args[0] = name
	cmd.Env = append(s.where.Environ(), "PATH=/usr/local/bin:/usr/bin:/bin")
	cmd.Dir = s.dir
	if a != nil {
		cmd.Dir = a.home
		cmd.Env = append(cmd.Env, "HOME="+a.home, "USER="+a.name, "LOGNAME="+a.name)
	}
	s.as(cmd, a)
	return cmd
}

// administer runs a command as the administrator, which must do what it is asked.
func (s *site) administer(ctx context.Context, name string, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	out, err := s.command(ctx, nil, name, args...).CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("%s %s: %w: %s", name, strings.Join(args, " "), err, bytes.TrimSpace(out))
	}
	return string(out), nil
}

// start makes the keys and brings the cell up.
func (s *site) start(ctx context.Context) error {
	var port string
	for _, to := range []*string{&port, &s.web, &s.mcp, &s.metrics} {
		var err error
		if *to, err = freePort(); err != nil {
			return err
		}
	}
	s.url = "nats://" + port
	if err := s.issueKeys(); err != nil {
		return err
	}
	s.launch("qmaster", "qmaster", "--listen", port, "--http", s.metrics, "--log-level", "warn")
	if err := s.wait(ctx, "qmaster", func() bool {
		_, err := os.Stat(s.where.Socket())
		return err == nil && s.each(ctx, grid.KindConf, func(grid.Object) {}) == nil
	}); err != nil {
		return err
	}
	s.launch("schedd", "schedd", "--log-level", "warn")
	for _, h := range s.hosts {
		s.launch("execd "+h, "execd", "--host", h, "--log-level", "warn")
	}
	s.launch("web", "web", "--listen", s.web, "--log-level", "warn")
	s.launch("mcp", "mcp", "--http", s.mcp)
	if err := s.wait(ctx, "hosts", func() bool { return s.reporting(ctx) == len(s.hosts) }); err != nil {
		return err
	}
	return s.wait(ctx, "quill web", func() bool {
		c, err := net.Dial("tcp", s.web)
		if err == nil {
			c.Close()
		}
		return err == nil
	})
}

// makeTokens makes the tokens of both users, and that of a program of the administrator.
func (s *site) makeTokens(ctx context.Context) error {
	for _, t := range []struct {
		to    *string
		whose *account
		scope string
	}{{&s.tokens.honest, s.honest, "operate"}, {&s.tokens.attacker, s.attacker, "operate"},
		{&s.tokens.read, s.attacker, "read"}, {&s.tokens.agent, nil, "propose"}} {
		out, err := s.command(ctx, t.whose, "quill", "token", "create", "--scope", t.scope).Output()
		if err != nil {
			return fmt.Errorf("quill token create: %w", err)
		}
		*t.to = strings.TrimSpace(string(out))
	}
	return nil
}

// freePort is an address that is not in use now. It stays qmaster's when it is
// started anew.
func freePort() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	defer l.Close()
	return l.Addr().String(), nil
}

// issueKeys makes the keys that the attacker has got hold of.
func (s *site) issueKeys() error {
	s.names = map[bus.Role]string{bus.User: s.attacker.name, bus.Host: "stolen-host", bus.Scheduler: "stolen-schedd"}
	if !s.root {
		s.names[bus.User] = "mallory"
	}
	s.keys = map[bus.Role]string{}
	issue := func(who bus.Identity, as string) error {
		_, file, err := keys.Issue(s.where, who)
		if err != nil {
			return err
		}
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		to := filepath.Join(s.dir, "keys", as)
		return errors.Join(os.WriteFile(to, text, 0o600), s.own(to, s.attacker))
	}
	for _, role := range attacker.AsAnybody {
		s.keys[role] = filepath.Join(s.dir, "keys", string(role))
		if err := issue(bus.Identity{Role: role, Name: s.names[role]}, string(role)); err != nil {
			return err
		}
	}
	// A host and a scheduler that are called like the honest user.
	for _, role := range attacker.AsDaemon {
		if err := issue(bus.Identity{Role: role, Name: s.honest.name}, string(role)+attacker.Namesake); err != nil {
			return err
		}
	}
	return nil
}

// startWait is how long the cell may take to start.
const startWait = 90 * time.Second

func (s *site) wait(ctx context.Context, what string, ready func() bool) error {
	for begun := time.Now(); !ready(); {
		if time.Since(begun) > startWait {
			return fmt.Errorf("the cell does not start: no %s after %v\n%s", what, startWait, s.said())
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(20 * time.Millisecond):
		}
	}
	return nil
}

// reporting returns how many hosts have reported.
func (s *site) reporting(ctx context.Context) (n int) {
	s.each(ctx, grid.KindLoad, func(o grid.Object) {
		if l := o.(*grid.Load); !l.Unheard && slices.Contains(s.hosts, l.Host) {
			n++
		}
	})
	return n
}

// each calls do with all objects of a kind, as the administrator sees them.
func (s *site) each(ctx context.Context, kind grid.Kind, do func(grid.Object)) error {
	ctx, cancel := context.WithTimeout(ctx, attacker.CommandMax)
	defer cancel()
	c, err := client.Connect(ctx, s.where)
	if err != nil {
		return err
	}
	defer c.Close()
	_, err = c.Get(ctx, gdi.Get{Kinds: []grid.Kind{kind}}, func(o grid.Object) error {
		do(o)
		return nil
	})
	return err
}

// configure makes the cell one in which there is something to attack: a prolog and
// an epilog that run as root, a mailer, temporary directories where all may write.
func (s *site) configure(ctx context.Context, c *canaries) error {
	for _, h := range s.hosts { // a host that reports has as many slots as processors
		if _, err := s.administer(ctx, "qconf", "-rattr", "queue", "slots", strconv.Itoa(slots), "all.q@"+h); err != nil {
			return err
		}
	}
	for _, set := range [][2]string{{"tmpdir", s.tmp()}, {"load_thresholds", "NONE"}, {"priority", strconv.Itoa(s.nice)}} {
		if _, err := s.administer(ctx, "qconf", "-rattr", "queue", set[0], set[1], "all.q"); err != nil {
			return err
		}
	}
	if s.root {
		for _, step := range []string{"prolog", "epilog"} {
			if _, err := s.administer(ctx, "qconf", "-rattr", "queue", step, "root@"+c.step, "all.q"); err != nil {
				return err
			}
		}
	}
	quota := filepath.Join(s.dir, "quota")
	text :=
		fmt.Sprintf(
			"{\n   name         half\n   description  NONE\n   enabled      TRUE\n   limit        users {*} to slots=%d\n}\n",
			slotsMax)
	if err := os.WriteFile(quota, []byte(text), 0o644); err != nil {
		return err
	}
	if _, err := s.administer(ctx, "qconf", "-Arqs", quota); err != nil {
		return err
	}
	if _, err := s.administer(ctx, "qconf", "-au", s.attacker.name, "arusers"); err != nil { // members may reserve
		return err
	}
	verifier, err := c.jsv()
	if err != nil {
		return err
	}
	conf, err := s.administer(ctx, "qconf", "-sconf")
	if err != nil {
		return err
	}
	var lines []string
	for line := range strings.Lines(conf) {
		if strings.HasPrefix(line, "mailer ") {
			line = "mailer " + c.mailer + "\n"
		}
		if strings.HasPrefix(line, "jsv_url ") {
			line = "jsv_url script:" + verifier + "\n"
		}
		if strings.HasPrefix(line, "jsv_allowed_mod ") {
			line = "jsv_allowed_mod " + strings.Join(attacker.VerifiedAttributes, ",") + "\n"
		}
		if !strings.HasPrefix(line, "#") {
			lines = append(lines, line)
		}
	}
	file := filepath.Join(s.dir, "global")
	if err := os.WriteFile(file, []byte(strings.Join(lines, "")), 0o644); err != nil {
		return err
	}
	if _, err = s.administer(ctx, "qconf", "-Mconf", file); err != nil {
		return err
	}
	return s.makeTokens(ctx)
}

// daemon is a process of the cell. It is started again when it ends by itself, so
// that the attack continues.
type daemon struct {
	name string
	log  string
	args []string

	mu       sync.Mutex
	cmd      *exec.Cmd
	stopping bool
	ended    chan struct{}
	crashes  []string
}

// launch starts a daemon. Its file mode mask is 0: that of a service manager which
// sets none. What others must not write has to be closed by the daemon itself.
func (s *site) launch(name string, args ...string) {
	d := &daemon{name: name, args: args, log: filepath.Join(s.dir, "log", strings.ReplaceAll(name, " ", "-")),
		ended: make(chan struct{})}
	s.daemons = append(s.daemons, d)
	go func() {
		defer close(d.ended)
		for {
			err := s.runDaemon(d)
			if d.over(err) {
				return
			}
			time.Sleep(200 * time.Millisecond)
		}
	}()
}

func (s *site) runDaemon(d *daemon) error {
	log, err := os.OpenFile(d.log, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o644)
	if err != nil {
		return err
	}
	defer log.Close()
	start, args := (*exec.Cmd).Start, append([]string{s.quill()}, d.args...)
	if d.args[0] == "execd" {
		start, args = func(cmd *exec.Cmd) error { return s.startElsewhere(cmd, hosts) }, s.elsewhere(args...)
	}
	cmd := exec.Command("/bin/sh", append([]string{"-c", `umask 0; exec "$@"`, "sh"}, args...)...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = "/", log, log
	cmd.Env = append(s.where.Environ(), "PATH=/usr/local/bin:/usr/bin:/bin", "HOME=/", "GOTRACEBACK=single")
	if d.name == "qmaster" {
		cmd.Env = append(cmd.Env, "GOMEMLIMIT="+qmasterLimit)
	}
	s.as(cmd, nil)
	d.mu.Lock()
	if d.stopping {
		d.mu.Unlock()
		return nil
	}
	err = start(cmd)
	d.cmd = cmd
	d.mu.Unlock()
	if err != nil {
		return err
	}
	return cmd.Wait()
}

// over takes down that the daemon ended; true: it was to.
func (d *daemon) over(err error) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.stopping {
		return true
	}
	d.crashes = append(d.crashes, fmt.Sprintf("%s ended: %v%s", d.name, err, lastWords(d.log)))
	return false
}

// lastWords are what a log says of a panic, or its last line.
func lastWords(file string) string {
	text, _ := os.ReadFile(file)
	if i := bytes.LastIndex(text, []byte("\npanic: ")); i >= 0 {
		text = text[i+1:]
	} else if i := bytes.LastIndex(text, []byte("\nfatal error: ")); i >= 0 {
		text = text[i+1:]
	} else {
		lines := strings.Split(strings.TrimSpace(string(text)), "\n")
		return ": " + lines[len(lines)-1]
	}
	line, rest, _ := strings.Cut(string(text), "\n")
	for at := range strings.Lines(rest) { // the first place that is ours
		if strings.Contains(at, ".go:") && strings.Contains(at, "quill") {
			place, _, _ := strings.Cut(strings.TrimSpace(at), " ")
			return ": " + line + " at " + filepath.Base(filepath.Dir(place)) + "/" + filepath.Base(place)
		}
	}
	return ": " + line
}

// pid is the process of a daemon now, 0: there is none.
func (d *daemon) pid() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.cmd == nil || d.cmd.Process == nil {
		return 0
	}
	return d.cmd.Process.Pid
}

// crashes are the daemons that ended by themselves.
func (s *site) crashes() (all []string) {
	for _, d := range s.daemons {
		d.mu.Lock()
		all = append(all, d.crashes...)
		d.mu.Unlock()
	}
	return all
}

// said is what the daemons wrote last.
func (s *site) said() (text string) {
	for _, d := range s.daemons {
		text += d.name + lastWords(d.log) + "\n"
	}
	return text
}

// stopWait is how long a daemon may take to end when it is asked to.
const stopWait = 20 * time.Second

// close ends everything that lives in the directory, and removes it.
func (s *site) close(keep bool) (err error) {
	s.stop()
	err = shepherd.EndBelow(s.dir, stopWait)
	s.killSurvivors()
	s.removeGroups()
	if keep {
		fmt.Fprintln(s.env.Stderr, "the cell stays in", s.dir)
		return err
	}
	// os.RemoveAll opens a descriptor for each level
	if out, failed := exec.Command("rm", "-rf", s.dir).CombinedOutput(); failed != nil {
		err = errors.Join(err, fmt.Errorf("rm -rf %s: %w: %.200s", s.dir, failed, out))
	}
	return err
}

// stop ends the daemons, the last one first, and returns which did not end when they were asked to.
func (s *site) stop() (late []string) {
	for _, d := range slices.Backward(s.daemons) {
		if err := d.stop(); err != nil {
			late = append(late, err.Error())
		}
	}
	s.daemons = nil
	return late
}

func (d *daemon) stop() error {
	d.mu.Lock()
	d.stopping = true
	cmd := d.cmd
	d.mu.Unlock()
	if cmd == nil || cmd.Process == nil {
		return nil
	}
	cmd.Process.Signal(syscall.SIGTERM)
	select {
	case <-d.ended:
		return nil
	case <-time.After(stopWait):
	}
	cmd.Process.Kill()
	<-d.ended
	return fmt.Errorf("%s did not end within %v of being asked to", d.name, stopWait)
}
