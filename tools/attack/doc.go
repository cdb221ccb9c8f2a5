// Package attack attacks a throw-away cell while an honest user works in it, and
// says what the attack achieved.
//
//	Command ─▶ director   brings up the cell, attacks it, judges it
//	             ├─ site      qmaster, schedd and two execds as processes of their own
//	             ├─ honest    submits jobs at a fixed rate and measures how long qsub takes
//	             ├─ watch     memory and descriptors of qmaster, daemons that end
//	             └─ field     one process for each attack and role, as the attacker
//	                            └─ Attack.Run
//
// The attacker is another account of this machine, and has been given three keys: a
// user's, a host's and a scheduler's. Each attack runs alone first, so that what it
// costs can be seen, then all run at the same time. The bars:
//
//	daemons that ended                            0
//	files or secrets of others read or written    0
//	qsub of the honest user, p99                  10 x that of the idle cell
//	memory of qmaster                             1 GiB
//	after the end                                 all as before within 10 s
//
// What is secret, and what must not be written, is marked with canaries: texts that
// no other user knows, files that only root or the honest user may change. An attack
// looks for the first in all that it receives, the director looks after the second.
//
// To add an attack: a file with its Attack and a line in Attacks. Run returns when
// its context ends, or earlier; it is started again as long as there is time. What
// it did it counts with Field.did and Field.refused; a secret that it has read, or
// a right that it should not have, it reports with Field.breach.
package attack
