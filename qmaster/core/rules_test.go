package core

import (
	"testing"

	"github.com/quill-grid/quill/qmaster/core/validate"
)

// TestValidName: names of configuration objects have no character that divides a file
// or acts on a terminal.
func TestValidName(t *testing.T) {
	for _, name := range []string{"smp", "über", "a.b-c_d", "a+b=c~d"} {
		if text := validate.Name("parallel environment", name); text != "" {
			t.Errorf("%q: %s", name, text)
		}
	}
	for name, want := range map[string]string{
		"":         `denied: "" is not a valid parallel environment name`,
		"a b":      `denied: "a b" is not a valid parallel environment name`,
		"a\tb":     `denied: "a\tb" is not a valid parallel environment name`,
		"a/b":      `denied: "a/b" is not a valid parallel environment name`,
		"a\x01b":   `denied: "a\x01b" is not a valid parallel environment name`,
		"\x1b[31m": `denied: "\x1b[31m" is not a valid parallel environment name`,
		"a\xffb":   `denied: "a\xffb" is not a valid parallel environment name`,
		"template": `Keyword ("TEMPLATE") not allowed as objectname`,
	} {
		if text := validate.Name("parallel environment", name); text != want {
			t.Errorf("%q: %s, not %s", name, text, want)
		}
	}
}
