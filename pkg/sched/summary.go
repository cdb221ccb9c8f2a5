package sched

import "strings"

// Summary returns the sentence that summarizes the kind of reason whose message
// this is; the message itself when there is none.
func Summary(message string) string {
	const some = "\x00"
	for i := range codes {
		if s := codes[i].summary; s != "" &&
			fills(Reason{Code: Code(i), Object: some, What: some, Offer: some}.String(), some, message) {
			return s
		}
	}
	return message
}

// fills reports whether text is the form with something in the place of each gap;
// the number 0 is a gap, too.
func fills(form, gap, text string) bool {
	parts := strings.Split(strings.ReplaceAll(strings.ReplaceAll(form, "(0 ", "("+gap+" "), " 0 ", " "+gap+" "), gap)
	last := len(parts) - 1
	rest, ok := strings.CutPrefix(text, parts[0])
	if !ok || last == 0 {
		return ok && rest == ""
	}
	for _, p := range parts[1:last] {
		if _, rest, ok = strings.Cut(rest, p); !ok {
			return false
		}
	}
	return strings.HasSuffix(rest, parts[last])
}
