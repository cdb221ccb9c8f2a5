// Package attack attacks a throw-away cell while an honest user works in it, and
// says what the attack achieved.
//
//	Command ─▶ director   starts the cell, attacks it, judges it
//	             ├─ site      qmaster, schedd, two execds, quill web and mcp as processes of their own
//	             ├─ honest    asks for all services at a fixed rate and measures how long each takes
//	             ├─ watch     memory and descriptors of the daemons, daemons that end
//	             ├─ checks    what always holds, whatever is attacked
//	             └─ attacker  one process for each attack and role (package attacker)
//
// The attacker is another account of this machine, and has been given three keys: a
// user's, a host's and a scheduler's. Each attack runs alone first, so that what it
// costs can be seen, then all run at the same time. The bars are in report.go, and
// in the chapter security of the manual.
//
// What is secret, and what must not be written, is marked with canaries: texts that
// no other user knows, files that only root or the honest user may change. An attack
// looks for the first in all that it receives, the director looks after the second.
//
// The package must not know what an attack does. To add an attack: see package attacker. To add a bar: report.go, and
// what must hold whatever is attacked is a check. A fault that was fixed is planted again by a file in
// testdata/planted.
package attack
