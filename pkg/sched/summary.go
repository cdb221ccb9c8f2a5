package sched

import "strings"

// summaries are the sentences under which Grid Engine tells of all jobs with
// one kind of reason: qstat -j without jobs.
var summaries = [...]struct {
	code Code
	text string
}{
	{NotInHardQueueList, "Jobs can not run because queue instance is not contained in its hard queue list"},
	{NoAccessQueue, "No queue instance with suitable access permissions could be found"},
	{NoAccessHost, "No queue instance with suitable access permissions could be found"},
	{NoAccessPE, "Jobs can not run because they have no access to PE"},
	{ProjectMissing, "Jobs are not assigned to a project to get a queue instance"},
	{ProjectWrong, "Jobs can not run because queue does not provides the job's assigned project"},
	{ProjectExcluded, "Jobs can not run because excluded project list of queue does not allow it"},
	{NotParallel, "Jobs can not run because queue instance is not a parallel queue"},
	{NotInPEList, "Jobs can not run because queue instance is not in queue list of PE"},
	{NotCheckpointing, "Jobs can not run because queue instance is not of type checkpointing"},
	{NotInCkptList, "Jobs can not run because queue instance is not in queue list of ckpt interface definition"},
	{NotInteractive, "Jobs can not run because queue instance is not interactive"},
	{NotBatch, "Jobs can not run because queue instance is not of type batch or transfer"},
	{NotAtQueue, "Jobs can not run because the resource requirements can not be satisfied"},
	{NotAtHost, "Jobs can not run because no host can satisfy the resource requirements"},
	{NotGlobally, "Jobs can not run globally because the resource requirements can not be satisfied"},
	{ForcedQueue, "Jobs can not run because they do not request 'forced' resource"},
	{ForcedHost, "Jobs can not run because they do not request 'forced' resource"},
	{ForcedGlobal, "Jobs can not run globally because they do not request 'forced' resource"},
	{WouldAlarm, "Jobs would set queue in load alarm state"},
	{QueueZeroSlots, "Jobs can not run because queue has 0 slots"},
	{PENoMatch, "Parallel job dropped because no matching PE found"},
	{PEOffersOnly, "Jobs can not run because available slots combined under PE are not in range of job"},
	{PETotal, "Jobs can not run because total slots of PE are not in range of job"},
	{PERule, "PE dropped because allocation rule is not suitable"},
	{CkptUnknown, "Jobs can not run because requested ckpt object not found"},
	{UserLimit, "Job dropped because of user limitations"},
	{OverQuota, "Jobs cannot run because they exceed limit(s) in resource quota sets"},
	{QueueCloses, "Jobs cannot run because a calendar will disable a queue soon"},
	{ARInError, "Jobs can not run because requested advance reservation is in error state"},
	{NotReserved, "Jobs can not run because queue was not reserved by advance reservation"},
}

// Summary is the sentence for the kind of reason that printed the message; the
// message itself where none stands for it.
func Summary(message string) string {
	const some = "\x00"
	for _, s := range summaries {
		if fills(Reason{Code: s.code, Object: some, What: some, Offer: some}.String(), some, message) {
			return s.text
		}
	}
	return message
}

// fills says whether text is the form with something in the place of each gap;
// the number 0 is a gap, too.
func fills(form, gap, text string) bool {
	parts := strings.Split(strings.ReplaceAll(strings.ReplaceAll(form, "(0 ", "("+gap+" "), " 0 ", " "+gap+" "), gap)
	last := len(parts) - 1
	rest, ok := strings.CutPrefix(text, parts[0])
	if !ok || last == 0 {
		return ok && rest == ""
	}
	for _, p := range parts[1:last] {
		if _, rest, ok = strings.Cut(rest, p); !ok {
			return false
		}
	}
	return strings.HasSuffix(rest, parts[last])
}
