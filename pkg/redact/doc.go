// Package redact takes from a log what says who and what, and leaves what
// decisions follow from, so that a site can hand its log to a developer.
//
//	Note(list), NoteRecord(r)   first pass: the names there are
//	List(list), Record(r)       second pass: the same with other names
//
// The same name becomes the same token everywhere in one file, and no token can
// be turned back:
//
//	users, unix groups, projects  u0001, u0002, ... in the order of the names, because
//	                              they decide ties; a number says no more than that order
//	job names                     j0001, ..., likewise
//	paths, commands, arguments,   x and ten hex digits (with / in front where there was
//	scripts, environment, mail    one) of an HMAC-SHA-256 under the file's own random key,
//	addresses, accounts, remarks  which is thrown away
//	texts (messages, section      their words, where one is such a name, a path or an
//	parameters, configuration)    address
//
// What stays: numbers, times, sizes, states, resource requests and load values,
// and the cluster's own names: hosts, queues, host groups, parallel environments,
// checkpoint interfaces, calendars, complexes, usersets and departments, quota
// sets. A pattern over user or project names in a quota rule (users a*) becomes
// the list of those in the file that it matches; * and {*} stay.
//
// What can be read says the tag of each field (grid.SeeTag): any other string is secret. A test checks that each text
// of grid.Kinds, orders and events has one, and that of a filled object of each kind nothing shows but what the tags
// permit.
//
// It must not know where lists come from. To add a field: its tag. To add a rule: its word in rules.go.
package redact
