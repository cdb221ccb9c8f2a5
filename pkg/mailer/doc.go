// Package mailer sends mail through the configured mailer, sge_conf(5): the
// program is run as `mailer -s SUBJECT TO`, the text on its standard input.
// qmaster and execd each have one. It must not know what mails contain.
//
//	Add(mails) ─▶ fair.Queue: owners in turns, bounded in bytes ─▶ one process at a time, one address each
//
// To add a way to send: a case in Send; the configuration names the program.
package mailer
