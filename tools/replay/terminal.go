package replay

import (
	"bytes"
	"context"
	"errors"
	"os"
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/term"

	"github.com/quill-grid/quill/pkg/history"
	"github.com/quill-grid/quill/pkg/opt"
	"github.com/quill-grid/quill/tools/replay/screen"
)

// view steps through the log in the terminal.
func (r *replay) view(ctx context.Context, env opt.Env) error {
	if !terminal(env.Stdin) || !terminal(env.Stdout) {
		return errors.New("stepping through the log needs a terminal; to print what was: quill replay --at 14:03:20 qstat -f")
	}
	player := history.NewPlayer(r.log)
	defer player.Close()
	m := screen.New(screen.Options{
		Tape: &tape{Log: r.log, Player: player}, Name: r.name, Zone: r.now.Location(), Start: r.seq, Commands: names(),
		Show: func(words []string, p screen.Page) string {
			if programs[words[0]] == nil {
				return showsNothing(words[0]).Error()
			}
			var out bytes.Buffer
			quiet := env
			quiet.Stdin, quiet.Stdout, quiet.Stderr = strings.NewReader(""), &out, &out
			r.show(quiet, &past{state: p.State, now: p.List.At.Std().In(r.now.Location()), host: env.Host}, words)
			return out.String()
		},
	})
	_, err := tea.NewProgram(m, tea.WithContext(ctx), tea.WithInput(env.Stdin), tea.WithOutput(env.Stdout),
		tea.WithEnvironment(env.Environ)).Run()
	if errors.Is(err, tea.ErrProgramKilled) && ctx.Err() != nil {
		return nil
	}
	return err
}

func terminal(stream any) bool {
	f, ok := stream.(*os.File)
	return ok && term.IsTerminal(f.Fd())
}
