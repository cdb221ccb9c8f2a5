package gdi

// Reads reports whether a request changes nothing, so that it does not matter whether it was carried out.
func Reads(b Body) bool {
	switch b := b.(type) {
	case *Get, *History, *Streams, *Explain, *Verify, *Wait, *Output, *WaysToLogIn:
		return true
	case *Trigger:
		return b.Action == "ping" || b.Action == "show-scheduler"
	}
	return false
}
