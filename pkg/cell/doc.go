// Package cell finds a cell: its directory, $SGE_ROOT/$SGE_CELL, the files in it, and where and with which key a
// program connects.
//
//	environment ─▶ Find ─▶ Cell ─▶ Common, Bootstrap, ActQMaster, Accounting, ...   paths, sge_conf(5)
//	                            ─▶ ReadBootstrap, WriteBootstrap                    bootstrap(5)
//	                            ─▶ ConnOptions                                      for bus.Connect: socket, or URL, key and certificate
//
// It reads files and opens no connection: daemons connect with ConnOptions, commands through pkg/client. It must not
// know what is in the files that others own, nor print anything: NotFound carries the text that commands show.
//
// Files: cell.go (where a cell is, its paths), bootstrap.go, connect.go (where to connect, keys), login.go (the token
// of quill login).
//
// To add a file of the cell: a method that returns its path, in cell.go.
package cell
