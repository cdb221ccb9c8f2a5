// Package screen is the terminal view of quill replay: it steps through a log
// list by list and shows what each brought about.
//
//	keys, sizes ─▶ model.Update ─▶ model, and at most one Cmd
//	                                 │ winds the tape, reads off a Page
//	                                 ▼
//	screen ◀─ model.View ◀─ model ◀─ arrived{Page}
//
// model is a value of Bubble Tea: Update and View compute and do nothing else,
// so a session is a transcript of keys and screens. Whatever reads the log
// happens in a Cmd, one at a time; a search is many short ones, between which
// it can be stopped.
//
// keys.go is the table of keys, page.go what is known at one place of the log,
// seek.go the way there, panes.go and summary.go what is shown, layout.go
// where. To add a key: its line in keys. To add a pane: its line in panes.
//
// The package must not know how a log is stored or found: a Tape winds it.
package screen
