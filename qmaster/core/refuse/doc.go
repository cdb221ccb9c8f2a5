// Package refuse makes refusals: why qmaster does not carry a request out.
//
//	Denied   the user has no right to it
//	Invalid  it is invalid for every user; with the option or attribute that is invalid
//	With     any other status
//	Because  any other status, with a format
//
// Each of the first three returns nil for an empty text, so that checks that return texts can
// be tried one after the other with cmp.Or. Refusals of orders are package orders' own.
//
// The package must not know the state: what is wrong is found by package validate and package
// authorize.
//
// To add a reason: its status in pkg/gdi.
package refuse
