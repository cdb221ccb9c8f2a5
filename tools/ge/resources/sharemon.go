package resources

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/quill-grid/quill/pkg/client"
	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/opt"
	"github.com/quill-grid/quill/pkg/reporting"
	"github.com/quill-grid/quill/pkg/switches"
	"github.com/quill-grid/quill/pkg/view"
)

// RunShareMon is the whole command; it returns the exit status.
func RunShareMon(env opt.Env, args []string) int {
	return opt.RunApp(env, opt.App(env, shareCommand(), watchShares), splitLetters(args))
}

// splitLetters takes letters apart that stand together, and what stands right after
// the letter that takes it, as getopt(3) does: -hd, is -h -d ,
func splitLetters(args []string) (out []string) {
	const alone, takes = "hntux", "cdfilmors"
	for n := 0; n < len(args); n++ {
		word := args[n]
		if word == "-help" || word == "--help" || len(word) < 2 || word[0] != '-' {
			out = append(out, word)
			continue
		}
		last := 1
		for last < len(word) && strings.IndexByte(alone, word[last]) >= 0 {
			out = append(out, "-"+word[last:last+1])
			last++
		}
		switch {
		case last == len(word):
		case strings.IndexByte(takes, word[last]) < 0:
			out = append(out, "-"+word[last:])
		case last+1 < len(word):
			out = append(out, "-"+word[last:last+1], word[last+1:])
		default:
			out = append(out, "-"+word[last:])
			if n++; n < len(args) {
				out = append(out, args[n])
			}
		}
	}
	return out
}

// shareMonitor is the query of the command line.
type shareMonitor struct {
	count    int // collections; 0 without end
	interval time.Duration
	fields   []reporting.ShareField
	nodes    []string // paths; none: all

	between, afterNode, afterRecord string // delimiters
	format                          string // of strings
	header, named, times, decayed   bool
	leaves                          bool // no other nodes

	file      string
	appending bool
}

func newShareMonitor([]string) *shareMonitor {
	return &shareMonitor{interval: 15 * time.Second, fields: reporting.ShareFields, between: "\t", afterNode: "\n",
		afterRecord: "\n", format: "%s"}
}

// watchShares collects and prints until it is enough.
func watchShares(ctx context.Context, env opt.Env, w *shareMonitor) int {
	complain := func(err error) int {
		fmt.Fprintln(env.Stderr, err)
		return 1
	}
	out := env.Stdout
	if w.file != "" {
		f, err := w.open(env)
		if err != nil {
			return complain(err)
		}
		defer f.Close()
		out = f
	}
	c, err := env.Connect(ctx)
	if err != nil {
		return complain(err)
	}
	defer c.Close()
	if w.header {
		io.WriteString(out, w.heading())
	}
	for n := 1; ; n++ {
		text, err := w.collect(ctx, env, c)
		if err != nil {
			return complain(err)
		}
		if _, err := io.WriteString(out, text); err != nil {
			return complain(err)
		}
		if n == w.count {
			return 0
		}
		select {
		case <-ctx.Done():
			return 0
		case <-time.After(w.interval):
		}
		io.WriteString(out, w.afterRecord)
	}
}

func (w *shareMonitor) open(env opt.Env) (*os.File, error) {
	name := w.file
	if !filepath.IsAbs(name) {
		name = filepath.Join(env.Dir, name)
	}
	mode := os.O_TRUNC
	if w.appending {
		mode = os.O_APPEND
	}
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|mode, 0o666)
	if err != nil {
		return nil, fmt.Errorf("can't open file %s: %w", w.file, errors.Unwrap(err))
	}
	return f, nil
}

// collect is one record: the tree as it is now.
func (w *shareMonitor) collect(ctx context.Context, env opt.Env, c client.Client) (string, error) {
	get := gdi.Get{Where: gdi.Where{Brief: true},
		Kinds: []grid.Kind{grid.KindSchedConf, grid.KindShareTree, grid.KindProject, grid.KindUser, grid.KindUserset,
			grid.KindBooking, grid.KindJob}}
	st, err := client.Fetch(ctx, c, get)
	if err != nil {
		return "", err
	}
	nodes := view.Shares(st, grid.TimeOf(env.Now()), w.decayed)
	if nodes == nil {
		return "", noTree("No share tree")
	}
	var b strings.Builder
	for _, n := range nodes {
		if w.shows(n) {
			w.line(&b, n)
		}
	}
	return b.String(), nil
}

// noTree is the error in Grid Engine's wording, capital included.
type noTree string

func (e noTree) Error() string { return string(e) }

func (w *shareMonitor) shows(n *view.Share) bool {
	if w.leaves && !n.Leaf {
		return false
	}
	for _, path := range w.nodes {
		if path == n.Path {
			return true
		}
	}
	return len(w.nodes) == 0
}

func (w *shareMonitor) line(b *strings.Builder, n *view.Share) {
	style := reporting.ShareStyle{Text: w.text, Time: w.time}
	for _, f := range w.fields {
		if w.named {
			b.WriteString(f.Name + "=")
		}
		b.WriteString(f.Text(n, style) + w.between)
	}
	b.WriteString(w.afterNode)
}

func (w *shareMonitor) heading() string {
	var b strings.Builder
	for _, f := range w.fields {
		b.WriteString(f.Name + w.between)
	}
	return b.String() + w.afterNode + w.afterRecord
}

func shareField(name string) (reporting.ShareField, bool) {
	for _, f := range reporting.ShareFields {
		if f.Name == name {
			return f, true
		}
	}
	return reporting.ShareField{}, false
}

func (w *shareMonitor) text(s string) string { return fmt.Sprintf(w.format, s) }

func (w *shareMonitor) time(t grid.Time) string {
	if w.times {
		return t.Std().Format("Mon Jan _2 15:04:05 2006")
	}
	return strconv.FormatInt(t.Unix(), 10)
}

var oneString = regexp.MustCompile(`^([^%]|%%)*%-?[0-9]*(\.[0-9]+)?s([^%]|%%)*$`)

// number returns what sets a switch to a number.
func number(set func(*shareMonitor, int)) func(*shareMonitor, []string) error {
	return func(w *shareMonitor, words []string) error {
		n, err := strconv.ParseUint(words[0], 10, 31)
		if err != nil {
			return switches.Errorf("sge_share_mon: %q is no number", words[0])
		}
		set(w, int(n))
		return nil
	}
}

func shareCommand() *switches.Command[shareMonitor] {
	return &switches.Command[shareMonitor]{
		Name: "sge_share_mon", Usage: "[options] [node_names ...]", Indent: 3, Column: 24, New: newShareMonitor,
		Unknown: func(word string) error {
			return &switches.Error{Text: fmt.Sprintf("sge_share_mon: invalid option %q", word), Help: true}
		},
		Operand: func(w *shareMonitor, rest []string) (int, error) {
			if strings.HasPrefix(rest[0], "-") {
				return 0, nil
			}
			w.nodes = append(w.nodes, rest[0])
			return 1, nil
		},
		Switches: []switches.Switch[shareMonitor]{
			{Name: "c", Args: "count", Help: "number of collections (default is infinite)", Take: switches.One,
				Set: number(func(w *shareMonitor, n int) { w.count = n })},
			{Name: "d", Args: "delimiter", Help: "delimiter between columns (default is <TAB>)", Take: switches.One,
				Set: switches.Text(func(w *shareMonitor) *string { return &w.between })},
			{Name: "f", Args: "field[,field]", Help: "list of fields to print", Take: switches.One,
				Set: func(w *shareMonitor, words []string) error {
					w.fields = nil
					for _, name := range switches.Names(words[0]) {
						f, ok := shareField(name)
						if !ok {
							return switches.Errorf("sge_share_mon: unknown field %q", name)
						}
						w.fields = append(w.fields, f)
					}
					return nil
				}},
			{Name: "h", Help: "print a header containing the field names",
				Set: switches.Flag(func(w *shareMonitor) *bool { return &w.header })},
			{Name: "help", Help: "print this help"},
			{Name: "i", Args: "interval", Help: "collection interval in seconds (default is 15)", Take: switches.One,
				Set: number(func(w *shareMonitor, n int) { w.interval = time.Duration(n) * time.Second })},
			{Name: "l", Args: "delimiter", Help: "delimiter between nodes (default is <CR>)", Take: switches.One,
				Set: switches.Text(func(w *shareMonitor) *string { return &w.afterNode })},
			{Name: "m", Args: "output_mode", Help: "output file fopen mode (default is \"w\")", Take: switches.One,
				Set: func(w *shareMonitor, words []string) error {
					if words[0] != "w" && words[0] != "a" {
						return switches.Errorf("sge_share_mon: output mode %q is not supported: use w or a", words[0])
					}
					w.appending = words[0] == "a"
					return nil
				}},
			{Name: "n", Help: "use name=value format", Set: switches.Flag(func(w *shareMonitor) *bool { return &w.named })},
			{Name: "o", Args: "output_file", Help: "output file", Take: switches.One,
				Set: switches.Text(func(w *shareMonitor) *string { return &w.file })},
			{Name: "r", Args: "delimiter", Help: "delimiter between collection records (default is <CR>)", Take: switches.One,
				Set: switches.Text(func(w *shareMonitor) *string { return &w.afterRecord })},
			{Name: "s", Args: "string_format", Help: "format of displayed strings (default is %s)", Take: switches.One,
				Set: func(w *shareMonitor, words []string) error {
					if !oneString.MatchString(words[0]) {
						return switches.Errorf("sge_share_mon: format %q must have one %%s", words[0])
					}
					w.format = words[0]
					return nil
				}},
			{Name: "t", Help: "show formatted times", Set: switches.Flag(func(w *shareMonitor) *bool { return &w.times })},
			{Name: "u", Help: "show decayed usage (since timestamp) in nodes",
				Set: switches.Flag(func(w *shareMonitor) *bool { return &w.decayed })},
			{Name: "x", Help: "exclude non-leaf nodes", Set: switches.Flag(func(w *shareMonitor) *bool { return &w.leaves })},
		},
	}
}
