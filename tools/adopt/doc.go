// Package adopt is `quill adopt`: a log-in over ssh joins the user's newest job on the host, or is refused. PAM starts
// it.
//
//	sshd ── pam_exec ──▶ quill adopt ──▶ shepherd of the host: moves sshd's process of this session into the job
//
// It connects to the shepherd and not to execd or qmaster: the shepherd knows which jobs run here also while those are
// restarted.
//
// The package must not know control groups or how jobs are found: those are the shepherd's.
//
// To add an option: its flag in flags, its effect in run, and the manual page quill-adopt(8).
package adopt
