// Package celltest gives tests a throw-away cell, all of it: a directory of its
// own, the daemons in the test's process, jobs under shepherds that end with it.
//
//	func TestMain(m *testing.M) { celltest.Main(m) }
//	cell := celltest.Start(t, 2, 4)
//
// It knows how a cell is started and nothing of what tests do with it. Only tests
// import it.
//
// It must not know what tests do with a cell. To add an option of the cell: a parameter
// of Start, passed on to daemons.Up.
package celltest
