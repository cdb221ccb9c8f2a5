package serve

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/quill-grid/quill/execd/shepherd"
	"github.com/quill-grid/quill/pkg/cell"
	"github.com/quill-grid/quill/pkg/document"
	"github.com/quill-grid/quill/pkg/opt"
	"github.com/quill-grid/quill/pkg/userdb"
)

// adoptPatience is how long the shepherd may take to answer: a log-in waits for it.
const adoptPatience = 5 * time.Second

// adoptCommand returns `quill adopt`: a log-in over ssh joins the user's newest job on the host, or is refused. PAM
// starts it.
//
//	sshd ── pam_exec ──▶ quill adopt ──▶ shepherd of the host: moves sshd's process of this session into the job
//
// It connects to the shepherd and not to execd or qmaster: the shepherd knows which jobs run here also while those are
// restarted, and how a process joins one.
func adoptCommand(env opt.Env) *cli.Command {
	env = env.Printable()
	return &cli.Command{
		Name: "adopt", Usage: "have a log-in join the user's newest job on this host; started by PAM", Description: adoptHelp,
		Flags:  adoptFlags(env.Host),
		Action: func(c *cli.Context) error { return adoptLogin(c, env) },
	}
}

const adoptHelp = `For pam_exec(8): the user is PAM_USER, and the process that joins the job is the one that started this command, with all
that it starts from then on. Without a job of the user on this host the exit status is 1, and PAM refuses the log-in.`

// adoptFlags are the options on a host of that name.
func adoptFlags(host string) []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "host", Value: host, Usage: "the host's `NAME` in the cell", DefaultText: "its own"},
		&cli.StringFlag{Name: "dir", Usage: "spool `DIR` of the host's execd", DefaultText: "execd/NAME in the cell"},
		opt.JSONFlag(),
		&cli.StringFlag{
			Name: "exempt", Usage: "`LIST` of users and @groups that log in without a job, and join none; root is one"},
	}
}

func adoptLogin(c *cli.Context, env opt.Env) error {
	if c.Args().Present() {
		return fmt.Errorf("adopt takes no %q", c.Args().First())
	}
	name := env.Getenv("PAM_USER")
	if name == "" {
		return errors.New("adopt: PAM_USER is not set: this command is started by pam_exec(8)")
	}
	switch kind := env.Getenv("PAM_TYPE"); kind {
	case "account", "open_session":
	case "close_session": // what has joined a job is its own
		return nil
	default:
		return fmt.Errorf("adopt: PAM_TYPE is %q: it is for account and session", kind)
	}
	who, err := userdb.Lookup(name)
	if err != nil {
		return fmt.Errorf("adopt: user %q: %w", name, err)
	}
	if who.Uid == "0" {
		return nil
	}
	exempt, err := isExempt(who, c.String("exempt"))
	if err != nil {
		return fmt.Errorf("adopt: user %q: %w", name, err)
	}
	if exempt {
		return nil
	}
	uid, err := strconv.ParseUint(who.Uid, 10, 32)
	if err != nil {
		return fmt.Errorf("adopt: user %q: %w", name, err)
	}
	dir := c.String("dir")
	if dir == "" {
		where, err := cell.FindIn(env.Getenv)
		if err != nil {
			return fmt.Errorf("adopt: %w", err)
		}
		dir = filepath.Join(where.Dir(), "execd", c.String("host"))
	}
	ctx, cancel := context.WithTimeout(c.Context, adoptPatience)
	defer cancel()
	joined, err := shepherd.Adopt(ctx, shepherd.DirUnder(dir), uint32(uid), os.Getppid())
	if err != nil {
		return fmt.Errorf("access denied for user %s on host %s: %w", name, c.String("host"), err)
	}
	return env.Did(c, document.Result{Subject: document.Subject{Job: joined.Job}, Did: "joined",
		Text: fmt.Sprintf("joined job %d", joined.Job)})
}

// isExempt reports whether a list of users and @groups has a user.
func isExempt(who *userdb.Account, list string) (bool, error) {
	words := strings.FieldsFunc(list, func(r rune) bool { return r == ',' || r == ' ' })
	if slices.Contains(words, who.Username) {
		return true, nil
	}
	if !slices.ContainsFunc(words, func(w string) bool { return strings.HasPrefix(w, "@") }) {
		return false, nil
	}
	ids, err := userdb.Groups(who)
	if err != nil {
		return false, err
	}
	for _, id := range ids {
		if group, err := userdb.GroupName(id); err == nil && slices.Contains(words, "@"+group) {
			return true, nil
		}
	}
	return false, nil
}
