package redact

// rule is what becomes of a string.
type rule uint8

const (
	keep   rule = iota + 1 // the cluster's own
	who                    // a user, a unix group, a project
	job                    // a job's name
	secret                 // not to be published
	text                   // words, some of which are names
	at                     // who@host
	quota                  // a rule of a resource quota set
	refs                   // jobs by number or name
	both                   // user/project
	config                 // text, with mail addresses
	image                  // of a container: secret but for its extension, by which hosts offer a starter
)

// fields has for each field of an object's type, and of the types in it, what
// becomes of its strings; what is within a field without a line of its own (a list, an
// exception for a host, a named value) follows the field.
var fields = map[string]rule{
	"AR.ACL": who, "AR.XACL": who, "AR.Account": secret, "AR.Ckpt": keep, "AR.GrantedPE": keep, "AR.Group": who,
	"AR.MailOptions": keep, "AR.MailTo": secret, "AR.MasterQueues": keep, "AR.Message": text, "AR.Name": job,
	"AR.Owner": who, "AR.PE": keep, "AR.Queues": keep, "AR.State": keep, "AR.Verify": keep,

	"Accounting.Account": secret, "Accounting.Category": text, "Accounting.Cwd": secret, "Accounting.DeletedBy": at,
	"Accounting.Department": keep, "Accounting.FailedText": text, "Accounting.Group": who, "Accounting.Host": keep,
	"Accounting.Name": job, "Accounting.Owner": who, "Accounting.PE": keep, "Accounting.PETask": keep,
	"Accounting.Project": who, "Accounting.Queue": keep, "Accounting.SubmitCommand": secret, "Accounting.SubmitHost": keep,

	"AdminHost.Name": keep, "SubmitHost.Name": keep, "Manager.Name": who, "Operator.Name": who, "Counter.Name": keep,
	"AlgorithmState.Algorithm": keep, "AlgorithmState.Name": text, "AlgorithmState.Values": text,
	"Booking.Project": who, "Booking.User": who,

	"Calendar.Name": keep, "Calendar.Week": keep, "Calendar.Year": keep,
	"Centry.Consumable": keep, "Centry.Default": keep, "Centry.Name": keep, "Centry.Relop": keep, "Centry.Requestable": keep,
	"Centry.Shortcut": keep, "Centry.Type": keep, "Centry.Urgency": keep,
	"Ckpt.CkptCommand": secret, "Ckpt.CkptDir": secret, "Ckpt.CleanCommand": secret, "Ckpt.Interface": keep, "Ckpt.MigrCommand": secret,
	"Ckpt.Name": keep, "Ckpt.RestartCommand": secret, "Ckpt.Signal": keep, "Ckpt.When": keep,
	"Conf.Host": keep, "Conf.Entries": config,

	"CQueue.Name": keep, "CQueue.HostList": keep, "CQueue.LoadThresholds": keep, "CQueue.SuspendThresholds": keep,
	"CQueue.SuspendInterval": keep, "CQueue.MinCPUInterval": keep, "CQueue.Processors": keep, "CQueue.QType": keep,
	"CQueue.CkptList": keep, "CQueue.PEList": keep, "CQueue.TmpDir": secret, "CQueue.Shell": secret, "CQueue.Prolog": secret,
	"CQueue.Epilog": secret, "CQueue.ShellStartMode": keep, "CQueue.StarterMethod": secret, "CQueue.SuspendMethod": secret,
	"CQueue.ResumeMethod": secret, "CQueue.TerminateMethod": secret, "CQueue.Notify": keep, "CQueue.OwnerList": who,
	"CQueue.UserLists": keep, "CQueue.XUserLists": keep, "CQueue.SubordinateList": keep, "CQueue.ComplexValues": keep,
	"CQueue.Projects": who, "CQueue.XProjects": who, "CQueue.Calendar": keep, "CQueue.InitialState": keep,
	"CQueue.SRT": keep, "CQueue.HRT": keep, "CQueue.SCPU": keep, "CQueue.HCPU": keep, "CQueue.SFSize": keep, "CQueue.HFSize": keep,
	"CQueue.SData": keep, "CQueue.HData": keep, "CQueue.SStack": keep, "CQueue.HStack": keep, "CQueue.SCore": keep, "CQueue.HCore": keep,
	"CQueue.SRSS": keep, "CQueue.HRSS": keep, "CQueue.SVMem": keep, "CQueue.HVMem": keep, "CQueue.Rerun": keep,
	"CQueue.SeqNo": keep, "CQueue.NSuspend": keep, "CQueue.Priority": keep, "CQueue.Slots": keep,

	"ExecHost.Name": keep, "ExecHost.LoadScaling": keep, "ExecHost.ComplexValues": keep, "ExecHost.UserLists": keep,
	"ExecHost.XUserLists": keep, "ExecHost.Projects": who, "ExecHost.XProjects": who, "ExecHost.UsageScaling": keep,
	"ExecHost.ReportVariables": keep, "Load.Host": keep, "Load.Values": keep, "HGroup.Name": keep, "HGroup.HostList": keep,
	"Grant.Host": keep, "Grant.Queue": keep, "QInstance.Host": keep, "QInstance.Queue": keep, "QInstance.Message": text,

	"JATask.Error": text, "JATask.Kill": text, "JATask.Reason": text, "JATask.PE": keep, "JATask.Binding": keep, "Instance.Resource": keep, "Instance.ID": keep, "Instance.Host": keep, "Instance.Message": text, "Limits.Refused": text, "MapGrant.Resource": keep, "MapGrant.Host": keep, "MapGrant.IDs": keep, "MapGrant.UUIDs": keep, "CoreGrant.Host": keep, "CoreGrant.Text": keep, "Binding.Unit": keep, "Binding.Type": keep, "Binding.Filter": keep, "PETask.Host": keep, "PETask.ID": keep,
	"LastTask.Host": keep, "Launch.Args": secret, "Launch.Connect": secret, "Launch.Cwd": secret, "Launch.Env": secret,
	"Job.Account": secret, "Job.Department": keep, "Job.Group": who, "Job.Name": job, "Job.Owner": who, "Job.Project": who,
	"JobRequest.ArrayPredecessorReq": refs, "JobRequest.PredecessorReq": refs, "JobRequest.Ckpt": keep, "JobRequest.CkptWhen": keep,
	"JobRequest.HardQueues": keep, "JobRequest.SoftQueues": keep, "JobRequest.MasterQueues": keep, "JobRequest.SlaveQueues": keep, "JobRequest.PE": keep,
	"Request.Name": keep, "Request.Value": keep, "Binding.Instance": keep, "Binding.Strategy": keep,
	"JobScheddInfo.Category": text, "JobScheddInfo.Messages": text,
	"JobSpec.Args": secret, "JobSpec.Command": secret, "JobSpec.CommandPrefix": secret, "JobSpec.Connect": secret, "JobSpec.Context": secret, "JobSpec.Cwd": secret,
	"JobSpec.Env": secret, "JobSpec.MailOptions": keep, "JobSpec.MailTo": secret, "JobSpec.NoError": keep, "JobSpec.Script": secret, "JobSpec.Session": secret, "JobSpec.Shell": secret,
	"JobSpec.Stderr": secret, "JobSpec.Stdin": secret, "JobSpec.Stdout": secret, "JobSpec.SubmitCommand": secret,
	"JobSpec.SubmitHost": keep, "JobSpec.Verify": keep,

	"PE.AllocationRule": keep, "PE.Name": keep, "PE.QsortArgs": secret, "PE.StartProcArgs": secret, "PE.StopProcArgs": secret,
	"PE.UrgencySlots": keep, "PE.UserLists": keep, "PE.XUserLists": keep,
	"Project.Name": who, "Project.ACL": keep, "Project.XACL": keep, "User.Name": who, "User.DefaultProject": who,
	"Login.ID":      keep,
	"Proposal.User": who, "Proposal.Host": keep, "Proposal.Agent": secret, "Proposal.Request": keep, "Proposal.Reason": secret, "Proposal.Effect": secret,
	"Proposal.Changes": secret, "Proposal.Text": secret, "Touched.Name": text, "Decision.By": at, "Decision.Request": keep, "Decision.Comment": secret,
	"Token.Owner": who, "Token.Comment": secret, "Token.Digest": secret,
	"Userset.Entries": who, "Userset.Name": keep, "Userset.Type": keep, "ShareNode.Name": who,
	"RQS.Name": keep, "RQS.Description": secret, "RQS.Limits": quota, "Receipt.Request": keep, "Receipt.PETask": keep,

	"SchedConf.Algorithm": keep, "SchedConf.DefaultDuration": keep, "SchedConf.HalflifeDecayList": keep, "SchedConf.JobLoadAdjustments": keep,
	"SchedConf.LoadAdjustmentDecayTime": keep, "SchedConf.LoadFormula": keep, "SchedConf.Params": keep, "SchedConf.PolicyHierarchy": keep,
	"SchedConf.QueueSortMethod": keep, "SchedConf.ReprioritizeInterval": keep, "SchedConf.ScheddJobInfo": keep,
	"SchedConf.ScheduleInterval": keep, "SchedConf.UsageWeightList": keep, "Section.Algorithm": keep, "Param.Name": text, "Param.Text": text,
	"Param.Help": keep,

	// Lists, orders and results.
	"Key.Name":  keep, // follows from the object, see keys
	"Cause.Who": at, "Cause.What": keep, "Cause.Ref": at, "Cause.Proposer": secret,
	"List.Scheduler": keep, "List.Algorithm": keep, "Refusal.Reason": text,
	"StartJob.PE": keep, "SuspendOnThreshold.Queue": keep, "UnsuspendOnThreshold.Queue": keep,
}

// fixed are names that mean something to the programs themselves.
var fixed = map[string]bool{
	"": true, "NONE": true, "none": true, "*": true, "default": true, "Root": true, "template": true, "UNDEFINED": true,
}
