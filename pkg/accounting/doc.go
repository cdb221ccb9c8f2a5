// Package accounting is the formats of the accounting files, accounting(5): one line for each
// record. accounting has 45 fields separated by colons after the header of 8.1.9;
// accounting.jsonl has a JSON object as Open Cluster Scheduler writes it.
//
//	grid.Accounting ─▶ Format.Append ─▶ line      qmaster
//	line ─▶ Each, ParseLine ─▶ grid.Accounting    qacct, qsub -sync; both formats
//	grid.Accounting ─▶ RecordOf ─▶ Record         qacct -fmt json
//
// The package must not know where the files are, nor read or write them. To add a field: a
// member of Record, set in RecordOf and parseJSON. The fields of the format with colons are
// fixed: other programs read it. After them are resource maps and the reason of a failure, by name.
package accounting
