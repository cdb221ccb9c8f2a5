// Package qsub is qsub(1): it makes a job of its command line, the request
// files and a script, hands it to qmaster, and waits for it when asked to.
//
//	words, files, script ─▶ submit.Submission ─▶ Verified ─▶ gdi.Submit ─▶ "Your job 7 ("x") has been submitted"
//	                                          -jsv          -w v, -w p:   gdi.Verify
//	                                                        -now y:       gdi.Wait started
//	                                                        -sync y:      gdi.Wait ended ─▶ exit status
//
// What the switches mean stands in pkg/submit; what may be submitted is decided
// by qmaster.
//
// The package must not know how jobs are scheduled or run. To add a switch: its row in
// the table of pkg/submit.
package qsub
