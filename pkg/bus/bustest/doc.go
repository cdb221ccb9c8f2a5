// Package bustest gives tests what they can break: file systems of their own,
// small enough to be filled or mounted where nobody else sees it, and ways to a
// server that are cut or fall silent.
package bustest
