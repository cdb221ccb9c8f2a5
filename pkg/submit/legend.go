package submit

import (
	"fmt"
	"slices"
	"strings"

	"github.com/quill-grid/quill/pkg/switches"
)

// argumentWords are those of submit(1) and what they stand for.
var argumentWords = [][2]string{
	{"account_string", "account_name"},
	{"ckpt_selector", "`n' `s' `m' `x' `r' <interval>"},
	{"context_list", "variable[=value][,variable[=value],...]"},
	{"date_time", "[[CC]YY]MMDDhhmm[.SS]"},
	{"job_identifier_list", "{job_id|job_name|reg_exp}[,{job_id|job_name|reg_exp},...]"},
	{"jsv_url", "[script:][username@]path"},
	{"mail_address", "username[@host]"},
	{"mail_list", "mail_address[,mail_address,...]"},
	{"mail_options", "`e' `b' `a' `n' `s'"},
	{"working_directory", "path"},
	{"path_list", "[host:]path[,[host:]path,...]"},
	{"file_list", "[host:]file[,[host:]file,...]"},
	{"priority", "-1023 - 1024"},
	{"resource_list", "resource[=value][,resource[=value],...]"},
	{"simple_context_list", "variable[,variable,...]"},
	{"slot_range", "[n[-m]|[-]m] - n,m > 0"},
	{"task_id_range", "task_id['-'task_id[':'step]]"},
	{"variable_list", "variable[=value][,variable[=value],...]"},
	{"wc_cqueue", "wildcard expression matching a cluster queue"},
	{"wc_host", "wildcard expression matching a host"},
	{"wc_hostgroup", "wildcard expression matching a hostgroup"},
	{"wc_qinstance", "wc_cqueue@wc_host"},
	{"wc_qdomain", "wc_cqueue@wc_hostgroup"},
	{"wc_queue", "wc_cqueue|wc_qdomain|wc_qinstance"},
	{"wc_queue_list", "wc_queue[,wc_queue,...]"},
	{"exp", "explicit:<socket>,<core>[:...]"},
	{"lin", "linear[:<amount>[:<socket>,<core>]]"},
	{"str", "striding:<amount>:<stepsize>[:<socket>,<core>]"},
	{"hold_list", "`n' `u' `s' `o' `U' `S' `O'"},
	{"user_list", "user[,user,...]"},
}

// legendOf explains the words that the help of the switches uses, and those that
// explain them.
func legendOf(switches []switches.Switch[Submission]) string {
	used := map[string]bool{}
	var use func(text string)
	use = func(text string) {
		for _, word := range strings.FieldsFunc(text, func(r rune) bool { return r != '_' && (r < 'a' || r > 'z') }) {
			i := slices.IndexFunc(argumentWords, func(w [2]string) bool { return w[0] == word })
			if i >= 0 && !used[word] {
				used[word] = true
				use(argumentWords[i][1])
			}
		}
	}
	for _, s := range switches {
		if s.Help != "" && s.Refused == "" {
			use(s.Args)
		}
	}
	var b strings.Builder
	for _, w := range argumentWords {
		if used[w[0]] {
			fmt.Fprintf(&b, "%-23s %s\n", w[0], w[1])
		}
	}
	return b.String()
}
