package opt

import (
	"io"
	"unicode/utf8"

	"github.com/quill-grid/quill/pkg/grid"
)

// Printable returns the environment with outputs that pass on only what a terminal
// prints: names, arguments and variables of other users' jobs stand in listings.
// Commands that carry the bytes of a job (qrsh) do without.
func (e Env) Printable() Env {
	e.Stdout, e.Stderr = &printable{w: e.Stdout}, &printable{w: e.Stderr}
	return e
}

// printable writes texts with control characters replaced.
type printable struct {
	w    io.Writer
	part []byte // the beginning of a character of which the rest is still to come
}

func (p *printable) Write(b []byte) (int, error) {
	if len(p.part) == 0 && grid.PrintableASCII(b) {
		return p.w.Write(b)
	}
	text := append(p.part, b...)
	end := len(text)
	for i := 1; i < utf8.UTFMax && i <= end; i++ {
		if c := text[end-i]; utf8.RuneStart(c) {
			if !utf8.FullRune(text[end-i:]) {
				end -= i
			}
			break
		}
	}
	p.part = append([]byte(nil), text[end:]...)
	if _, err := io.WriteString(p.w, grid.Printable(string(text[:end]))); err != nil {
		return 0, err
	}
	return len(b), nil
}
