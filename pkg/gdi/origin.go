package gdi

import (
	"errors"
	"fmt"
	"strings"

	"github.com/quill-grid/quill/pkg/grid"
)

const (
	// NameMax is how many bytes the number of a request, and the name of a host, may have.
	NameMax = 256
	// commandMax is how many bytes of the name of a command are stored.
	commandMax = 64
)

// origin checks what a request says of itself: it becomes part of the log, and of lines that people read. Nothing is
// decided by the name of the command, so that it is made readable instead of refused.
func (r *Request) origin() error {
	switch {
	case len(r.ID) > NameMax:
		return fmt.Errorf("a request number of %d bytes, at most %d are allowed", len(r.ID), NameMax)
	case !word(r.ID):
		return errors.New("a request number with blanks or characters that cannot be printed")
	case len(r.Host) > NameMax:
		return fmt.Errorf("a host name of %d bytes, at most %d are allowed", len(r.Host), NameMax)
	case !word(r.Host) || strings.ContainsAny(r.Host, "@/"):
		return fmt.Errorf("%q is no name of a host", grid.Printable(r.Host))
	}
	command := r.Command[:min(len(r.Command), commandMax)]
	r.Command = grid.Printable(command)
	if strings.ContainsAny(r.Command, "\n\t") {
		r.Command = strings.Map(func(c rune) rune {
			if c == '\n' || c == '\t' {
				return grid.Unprintable
			}
			return c
		}, r.Command)
	}
	return nil
}

// word reports whether a text is printable ASCII without blanks.
func word(text string) bool {
	return grid.PrintableASCII(text) && !strings.ContainsAny(text, " \n\t")
}
