// Package attacker is the process of an attack: what a user, a host or a scheduler with a key of its own tries on a
// cell.
//
//	Field    what the process has: credentials, names of others, secrets; one line of JSON from the director
//	Be ─▶ Attack.Run ─▶ counts, jobs, breaches, a line of JSON each
//
// Most attacks are generated: families of subjects times classes of misuse.
//
//	places     fields of requests, by reflection over the bodies of gdi  ─▶ requests
//	routes     parameters of routes, from the OpenAPI description
//	listeners  sockets of the cell's processes, which the director finds
//	work       what the processes of a job do
//
// The package must not know what should hold: it has no expectation, and the director looks at the cell.
//
// To add an attack: a class or a subject of a family. An attack with a subject of its own is a line in Attacks. Run
// returns when its context ends, or earlier; it is started again as long as there is time. What it did it counts with
// Field.did, Field.refused and Field.cover; a secret that it has read, or a right that it should not have, it reports
// with Field.breach.
package attacker
