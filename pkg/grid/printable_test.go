package grid

import "testing"

func TestPrintable(t *testing.T) {
	for text, want := range map[string]string{
		"plain\ttext\n":        "plain\ttext\n",
		"grün, 東京":             "grün, 東京",
		"a\x01b\x1b[31mc\x7fd": "a?b?[31mc?d",
		"a\xffb\xc3":           "a?b?",
		"a\u0085b\u202ec\r":    "a?b?c?",
		"":                     "",
	} {
		if got := Printable(text); got != want {
			t.Errorf("Printable(%q) = %q, want %q", text, got, want)
		}
	}
}
