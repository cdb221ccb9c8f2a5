package switches

import (
	"errors"
	"fmt"
	"strings"
)

// Command is one command's option language. T is what its words set.
type Command[T any] struct {
	Name     string
	Usage    string // after the name in help: "[options] job_task_list"
	Indent   int    // blanks before a switch in help
	Column   int    // where its text begins
	Switches []Switch[T]
	Legend   string // the rest of help: operands, and what the argument words stand for

	// Terms makes what stands after Legend, when help is asked for.
	Terms func() string

	// New makes the T that the command line is read into. nil: the zero value.
	New func(line []string) *T

	// Seen, when set, is called with the name of each switch that was read.
	Seen func(t *T, name string)

	// Defaults names the files with default options, in the cell and in the user's home: "sge_qstat"; empty: there are
	// none.
	Defaults string
	// Begin, when set, is called before each file of default options and before
	// the command line are read, when there are such files: by it a command knows
	// what a later one takes the place of.
	Begin func(t *T)

	// Operand takes the words that are no switch, from the first of them on,
	// and says how many it took; reading continues after them. nil: such words
	// are unknown switches.
	Operand func(t *T, rest []string) (taken int, err error)

	// Unknown makes the error for a word that is neither. nil: the error is
	// `invalid option argument "-x"`. HelpInstead prints the help.
	Unknown func(word string) error
	// NoArgument makes the error for a switch whose argument is missing. nil: the
	// error says what it must have.
	NoArgument func(name string) error

	// Raw is for commands that pass on the output of jobs, byte for byte.
	Raw bool

	Prefix string // of every usage error: "qsub: "
	Code   int    // the exit status of usage errors; 0 stands for 1
}

// Switch is one row of a command's table, in the order of help. -help itself
// and --help always work; its row is for the help text.
type Switch[T any] struct {
	Name string // without the dash
	Args string // the argument words as help shows them
	Help string // empty: accepted, but not shown in help
	// Take is how many of the words after the switch are its own. nil: none.
	Take Take
	// Missing is the error when words are missing, after "-x option must
	// have "; empty: "argument".
	Missing string
	// Set is what the switch does.
	Set func(t *T, words []string) error
	// Refused is why the switch of the manual page is not supported.
	Refused string

	format func(*T) *Format // of Fmt
}

// Take is how many of the words after a switch are its own; Missing when
// there are too few.
type Take func(rest []string) int

// Missing is what a Take returns when words are missing.
const Missing = -1

// One word, whatever it looks like.
func One(rest []string) int {
	if len(rest) == 0 {
		return Missing
	}
	return 1
}

// Word is One that must not be empty.
func Word(rest []string) int {
	if len(rest) == 0 || rest[0] == "" {
		return Missing
	}
	return 1
}

// Two words, whatever they look like.
func Two(rest []string) int {
	if len(rest) < 2 {
		return Missing
	}
	return 2
}

// Maybe one word, when there is one that does not begin with a dash.
func Maybe(rest []string) int {
	if len(rest) == 0 || strings.HasPrefix(rest[0], "-") {
		return 0
	}
	return 1
}

// Many words up to the next that begins with a dash, at least one.
func Many(rest []string) int {
	n := Any(rest)
	if n == 0 {
		return Missing
	}
	return n
}

// Any words up to the next that begins with a dash.
func Any(rest []string) int {
	n := 0
	for n < len(rest) && !strings.HasPrefix(rest[n], "-") {
		n++
	}
	return n
}

// Error is a usage error: what is printed on stderr and the exit status.
type Error struct {
	Text string
	Code int  // 0: the command's
	Help bool // the command's help follows on stderr
	Bare bool // Text is printed without the command's Prefix
	// Silent has Text for programs only: people see the help.
	Silent bool
	Cause  error // what Text is made of; nil: the words themselves
}

func (e *Error) Error() string { return e.Text }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Cause }

// Errorf makes a usage error with the command's own exit status.
func Errorf(format string, args ...any) error { return &Error{Text: fmt.Sprintf(format, args...)} }

// Invalidf makes the error of a value that cannot be read. Grid Engine's
// status for it is 7.
func Invalidf(format string, args ...any) error {
	return &Error{Text: fmt.Sprintf(format, args...), Code: 7}
}

// HelpInstead is a Command.Unknown: the help on stderr, nothing else.
func HelpInstead(word string) error {
	return &Error{Text: fmt.Sprintf("invalid option argument %q", word), Help: true, Silent: true}
}

// ErrNoOperands is the error of a command line that does not say what to work on.
var ErrNoOperands = &Error{Text: "ERROR! no option argument", Code: 1, Help: true, Bare: true}

// ErrHelp is what Parse returns for -help.
var ErrHelp = errors.New("help requested")

// WordError is an error of Parse with the word that it is about.
type WordError struct {
	error
	Word int // its index: that of a switch, or of its argument if it has one
}

// Unwrap returns the error without the word.
func (e *WordError) Unwrap() error { return e.error }

// Parse reads words in order and sets what they say. The error is a WordError or ErrHelp.
func (c *Command[T]) Parse(t *T, words []string) error {
	for i := 0; i < len(words); {
		s := c.Lookup(words[i])
		switch {
		case words[i] == "-help", words[i] == "--help":
			return ErrHelp
		case s != nil:
			n, err := s.apply(t, words[i+1:], c.NoArgument)
			if err != nil {
				return &WordError{err, s.place(i, n)}
			}
			if c.Seen != nil {
				c.Seen(t, s.Name)
			}
			i += 1 + n
		case c.Operand == nil || (len(words[i]) > 0 && words[i][0] == '-'):
			return &WordError{c.unknown(words[i]), i}
		default:
			n, err := c.Operand(t, words[i:])
			if err != nil {
				return &WordError{err, i}
			}
			i += n
		}
	}
	return nil
}

// Place returns the index of the word that an error about a switch is about, as Parse has it; -1 when the switch is not
// among words, or more than once.
func (c *Command[T]) Place(words []string, name string) int {
	place := -1
	for i := 0; i < len(words); i++ {
		s, taken := c.Lookup(words[i]), 0
		if s == nil {
			continue
		}
		if s.Take != nil {
			taken = max(0, s.Take(words[i+1:]))
		}
		if s.Name == name {
			if place >= 0 {
				return -1
			}
			place = s.place(i, taken)
		}
		i += taken
	}
	return place
}

// place is the index of the word that an error about the switch at i is about, which takes so many of the words after
// it.
func (s *Switch[T]) place(i, taken int) int {
	if taken == 1 {
		return i + 1
	}
	return i
}

// Lookup returns the row of a word, nil when it is no switch of the command.
func (c *Command[T]) Lookup(word string) *Switch[T] {
	name, dash := strings.CutPrefix(word, "-")
	if !dash || name == "" {
		return nil
	}
	for i := range c.Switches {
		if c.Switches[i].Name == name {
			return &c.Switches[i]
		}
	}
	return nil
}

func (c *Command[T]) unknown(word string) error {
	if c.Unknown != nil {
		return c.Unknown(word)
	}
	return Errorf("invalid option argument %q", word)
}

func (s *Switch[T]) apply(t *T, rest []string, noArgument func(string) error) (taken int, err error) {
	if s.Refused != "" {
		return 0, Errorf("-%s is not supported: %s", s.Name, s.Refused)
	}
	if s.Take != nil {
		taken = s.Take(rest)
	}
	if taken == Missing {
		if noArgument != nil {
			return 0, noArgument(s.Name)
		}
		missing := s.Missing
		if missing == "" {
			missing = "argument"
		}
		return 0, Errorf("-%s option must have %s", s.Name, missing)
	}
	return taken, s.Set(t, rest[:taken])
}
