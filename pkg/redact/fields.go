package redact

// rule is what becomes of a string.
type rule uint8

const (
	keep    rule = iota + 1 // the cluster's own
	who                     // a user, a unix group, a project
	job                     // a job's name
	secret                  // not to be published
	text                    // words, some of which are names
	at                      // who@host
	quota                   // a rule of a resource quota set
	refs                    // jobs by number or name
	both                    // user/project
	receipt                 // user:request
	config                  // text, with mail addresses
	image                   // of a container: secret but for its extension, by which hosts offer a starter
)

// fields has for each field of an object's type, and of the types in it, what
// becomes of its strings; what is within a field without a line of its own (a list, an
// exception for a host, a named value) follows the field. Strings and bytes of a new kind or
// field without a line are secret: only what is listed here can be read in a redacted log.
var fields = map[string]rule{
	"AR.ACL": who, "AR.XACL": who, "AR.Ckpt": keep, "AR.GrantedPE": keep, "AR.Group": who, "AR.MailOptions": keep,
	"AR.MasterQueues": keep, "AR.Message": text, "AR.Name": job, "AR.Owner": who, "AR.PE": keep, "AR.Queues": keep,
	"AR.State": keep, "AR.Verify": keep,

	"Accounting.Category": text, "Accounting.DeletedBy": at, "Accounting.Department": keep, "Accounting.FailedText": text,
	"Accounting.Group": who, "Accounting.Host": keep, "Accounting.Name": job, "Accounting.Owner": who,
	"Accounting.PE":     keep,
	"Accounting.PETask": keep, "Accounting.Project": who, "Accounting.Queue": keep, "Accounting.SubmitHost": keep,

	"AdminHost.Name": keep, "SubmitHost.Name": keep, "Manager.Name": who, "Operator.Name": who, "Counter.Name": keep,
	"AlgorithmState.Algorithm": keep, "AlgorithmState.Name": text, "AlgorithmState.Values": text, "Booking.Project": who,
	"Booking.User": who,

	"Calendar.Name": keep, "Calendar.Week": keep, "Calendar.Year": keep, "Centry.Consumable": keep, "Centry.Default": keep,
	"Centry.Name": keep, "Centry.Relop": keep, "Centry.Requestable": keep, "Centry.Shortcut": keep, "Centry.Type": keep,
	"Centry.Urgency": keep, "Ckpt.Interface": keep, "Ckpt.Name": keep, "Ckpt.Signal": keep, "Ckpt.When": keep,
	"Conf.Host":    keep,
	"Conf.Entries": config,

	"CQueue.Name": keep, "CQueue.HostList": keep, "CQueue.LoadThresholds": keep, "CQueue.SuspendThresholds": keep,
	"CQueue.SuspendInterval": keep, "CQueue.MinCPUInterval": keep, "CQueue.Processors": keep, "CQueue.QType": keep,
	"CQueue.CkptList": keep, "CQueue.PEList": keep, "CQueue.ShellStartMode": keep, "CQueue.Notify": keep,
	"CQueue.OwnerList": who,
	"CQueue.UserLists": keep, "CQueue.XUserLists": keep, "CQueue.SubordinateList": keep, "CQueue.ComplexValues": keep,
	"CQueue.Projects": who, "CQueue.XProjects": who, "CQueue.Calendar": keep, "CQueue.InitialState": keep,
	"CQueue.SRT": keep,
	"CQueue.HRT": keep, "CQueue.SCPU": keep, "CQueue.HCPU": keep, "CQueue.SFSize": keep, "CQueue.HFSize": keep,
	"CQueue.SData": keep, "CQueue.HData": keep, "CQueue.SStack": keep, "CQueue.HStack": keep, "CQueue.SCore": keep,
	"CQueue.HCore": keep, "CQueue.SRSS": keep, "CQueue.HRSS": keep, "CQueue.SVMem": keep, "CQueue.HVMem": keep,
	"CQueue.Rerun": keep, "CQueue.SeqNo": keep, "CQueue.NSuspend": keep, "CQueue.Priority": keep, "CQueue.Slots": keep,

	"ExecHost.Name": keep, "ExecHost.LoadScaling": keep, "ExecHost.ComplexValues": keep, "ExecHost.UserLists": keep,
	"ExecHost.XUserLists": keep, "ExecHost.Projects": who, "ExecHost.XProjects": who, "ExecHost.UsageScaling": keep,
	"ExecHost.ReportVariables": keep, "Load.Host": keep, "Load.Values": keep, "HGroup.Name": keep, "HGroup.HostList": keep,
	"Grant.Host": keep, "Grant.Queue": keep, "QInstance.Host": keep, "QInstance.Queue": keep, "QInstance.Message": text,

	"JATask.Error": text, "JATask.Kill": text, "JATask.Reason": text, "JATask.PE": keep, "JATask.Binding": keep,
	"Instance.Resource": keep, "Instance.ID": keep, "Instance.Host": keep, "Instance.Message": text,
	"Limits.Refused":    text,
	"MapGrant.Resource": keep, "MapGrant.Host": keep, "MapGrant.IDs": keep, "MapGrant.UUIDs": keep, "CoreGrant.Host": keep,
	"CoreGrant.Text": keep, "Binding.Unit": keep, "Binding.Type": keep, "Binding.Filter": keep, "PETask.Host": keep,
	"PETask.ID": keep, "LastTask.Host": keep, "Job.Department": keep, "Job.Group": who, "Job.Name": job, "Job.Owner": who,
	"Job.Project": who, "JobRequest.ArrayPredecessorReq": refs, "JobRequest.PredecessorReq": refs, "JobRequest.Ckpt": keep,
	"JobRequest.CkptWhen": keep, "JobRequest.HardQueues": keep, "JobRequest.SoftQueues": keep,
	"JobRequest.MasterQueues": keep,
	"JobRequest.SlaveQueues":  keep, "JobRequest.PE": keep, "Request.Name": keep, "Request.Value": keep,
	"Binding.Instance": keep,
	"Binding.Strategy": keep, "JobScheddInfo.Category": text, "JobScheddInfo.Messages": text, "JobSpec.MailOptions": keep,
	"JobSpec.NoError": keep, "JobSpec.SubmitHost": keep, "JobSpec.Verify": keep,

	"PE.AllocationRule": keep, "PE.Name": keep, "PE.UrgencySlots": keep, "PE.UserLists": keep, "PE.XUserLists": keep,
	"Project.Name": who, "Project.ACL": keep, "Project.XACL": keep, "User.Name": who, "User.DefaultProject": who,
	"Login.ID":      keep,
	"Proposal.User": who, "Proposal.Host": keep, "Proposal.Request": keep, "Touched.Name": text, "Decision.By": at,
	"Decision.Request": keep, "Token.Owner": who, "Userset.Entries": who, "Userset.Name": keep, "Userset.Type": keep,
	"ShareNode.Name": who, "RQS.Name": keep, "RQS.Limits": quota, "Receipt.User": who, "Receipt.Verb": keep,
	"Receipt.Request": keep, "Receipt.PETask": keep,

	"SchedConf.Algorithm": keep, "SchedConf.DefaultDuration": keep, "SchedConf.HalflifeDecayList": keep,
	"SchedConf.JobLoadAdjustments": keep, "SchedConf.LoadAdjustmentDecayTime": keep, "SchedConf.LoadFormula": keep,
	"SchedConf.Params": keep, "SchedConf.PolicyHierarchy": keep, "SchedConf.QueueSortMethod": keep,
	"SchedConf.ReprioritizeInterval": keep, "SchedConf.ScheddJobInfo": keep, "SchedConf.ScheduleInterval": keep,
	"SchedConf.UsageWeightList": keep, "Section.Algorithm": keep, "Param.Name": text, "Param.Text": text,
	"Param.Help": keep,

	// Lists, orders and results.
	"Key.Name":  keep, // follows from the object, see keyRules
	"Cause.Who": at, "Cause.What": keep, "Cause.Ref": at,
	"List.Scheduler": keep, "List.Algorithm": keep, "Refusal.Reason": text,
	"StartJob.PE": keep, "SuspendOnThreshold.Queue": keep, "UnsuspendOnThreshold.Queue": keep,
}

// fixed are names that mean something to the programs themselves.
var fixed = map[string]bool{
	"": true, "NONE": true, "none": true, "*": true, "default": true, "Root": true, "template": true, "UNDEFINED": true,
}
