package view

// JobStates selects tasks by their state: -s of qstat(1).
type JobStates uint16

// The states, letters of -s: p r s z hu ho hs hj hd ha.
const (
	JobsPending JobStates = 1 << iota
	JobsRunning
	JobsSuspended
	JobsFinished
	JobsHeldByUser
	JobsHeldByOperator
	JobsHeldBySystem
	JobsWithPredecessors
	JobsWithArrayPredecessors
	JobsLater // -a is ahead
	JobsHeld  = JobsHeldByUser | JobsHeldByOperator | JobsHeldBySystem | JobsWithPredecessors |
		JobsWithArrayPredecessors | JobsLater
	// JobsPresent are those that qstat shows without -s.
	JobsPresent = JobsPending | JobsRunning | JobsSuspended
)

var letterOf = map[byte]JobStates{'p': JobsPending, 'r': JobsRunning, 's': JobsSuspended, 'z': JobsFinished,
	'a': JobsPresent | JobsHeld, 'h': JobsHeld}

var holdLetterOf = map[byte]JobStates{'u': JobsHeldByUser, 'o': JobsHeldByOperator, 's': JobsHeldBySystem,
	'd': JobsWithArrayPredecessors, 'j': JobsWithPredecessors, 'a': JobsLater}

// ParseJobStates reads the letters of -s; those of holds are h and a second one,
// h alone is all of them. ok is false when a letter is unknown or none is given.
func ParseJobStates(text string) (s JobStates, ok bool) {
	for i := 0; i < len(text); i++ {
		of, known := letterOf[text[i]]
		if !known {
			return 0, false
		}
		if text[i] == 'h' && i+1 < len(text) {
			if hold, second := holdLetterOf[text[i+1]]; second {
				of = hold
				i++
			}
		}
		s |= of
	}
	return s, s != 0
}
