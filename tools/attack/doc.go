// Package attack attacks a throw-away cell while an honest user works in it, and
// says what the attack achieved.
//
//	Command ─▶ director   starts the cell, attacks it, judges it
//	             ├─ site      qmaster, schedd, two execds, quill web and mcp as processes of their own
//	             ├─ honest    asks for all services at a fixed rate and measures how long each takes
//	             ├─ watch     memory and descriptors of the daemons, daemons that end
//	             ├─ checks    what always holds, whatever is attacked
//	             └─ field     one process for each attack and role, as the attacker
//	                            └─ Attack.Run
//
// Most attacks are generated: families of subjects times classes of misuse.
//
//	places     fields of requests, by reflection over the bodies of gdi  ─▶ requests
//	routes     parameters of routes, from the OpenAPI description
//	sockets    sockets of the cell's processes, from proc(5)              ─▶ listeners
//	work       what the processes of a job do
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
// To add an attack: a class or a subject of a family, with no expectation of its own; what
// must hold is a check. An attack with a subject of its own is a line in Attacks. Run returns
// when its context ends, or earlier; it is started again as long as there is time. What
// it did it counts with Field.did, Field.refused and Field.cover; a secret that it has read, or
// a right that it should not have, it reports with Field.breach. A fault that was fixed is planted
// again by a file in testdata/planted.
package attack
