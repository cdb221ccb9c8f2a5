package opt

// qsubLegend is what stands behind the switches in the help of qsub.
const qsubLegend = "   [command [command_args]]\n" +
	jobLegend

// jobLegend explains the argument words of submit(1).
const jobLegend = "\n" +
	"account_string          account_name\n" +
	"context_list            variable[=value][,variable[=value],...]\n" +
	"date_time               [[CC]YY]MMDDhhmm[.SS]\n" +
	"job_identifier_list     {job_id|job_name|reg_exp}[,{job_id|job_name|reg_exp},...]\n" +
	"mail_address            username[@host]\n" +
	"mail_list               mail_address[,mail_address,...]\n" +
	"mail_options            `e' `b' `a' `n' `s'\n" +
	"working_directory       path\n" +
	"path_list               [host:]path[,[host:]path,...]\n" +
	"priority                -1023 - 1024\n" +
	"resource_list           resource[=value][,resource[=value],...]\n" +
	"simple_context_list     variable[,variable,...]\n" +
	"slot_range              [n[-m]|[-]m] - n,m > 0\n" +
	"task_id_range           task_id['-'task_id[':'step]]\n" +
	"variable_list           variable[=value][,variable[=value],...]\n" +
	"wc_cqueue               wildcard expression matching a cluster queue\n" +
	"wc_host                 wildcard expression matching a host\n" +
	"wc_hostgroup            wildcard expression matching a hostgroup\n" +
	"wc_qinstance            wc_cqueue@wc_host\n" +
	"wc_qdomain              wc_cqueue@wc_hostgroup\n" +
	"wc_queue                wc_cqueue|wc_qdomain|wc_qinstance\n" +
	"wc_queue_list           wc_queue[,wc_queue,...]\n"

// JobTaskListLegend explains how jobs and tasks are named.
const JobTaskListLegend = "" +
	"job_task_list           job_tasks[,job_tasks,...]\n" +
	"job_tasks               [job_id['.'task_id_range]|job_name|pattern][' -t 'task_id_range]\n" +
	"task_id_range           task_id['-'task_id[':'step]]\n"

const jobOperandLegend = "" +
	"   job_task_list                            jobids (and taskids) of jobs to be altered\n"
