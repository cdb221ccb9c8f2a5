package bus

// bounds are those of the memory that all connections take together: what has begun to
// arrive, what waits to be handled, and what waits for clients who do not read.
type bounds struct {
	partial partials
	waiting share
	backlog backlogs
}

// share is how many bytes those of one user or daemon, and those of all users, may take.
type share struct{ user, all int }

// The shares of a process that has enough, and what part of the memory of one that has less they are: what one user may
// have on its way, beside a user's share of the objects, leaves a process able to serve the others.
const (
	partialUserMax, partialMax = 4 * PayloadMax, 16 * PayloadMax
	unreadUserMax, unreadMax   = 64 << 20, 256 << 20
	waitingUserMax, waitingMax = 16 << 20, 256 << 20

	partialUserPart, partialPart = 32, 8
	unreadUserPart, unreadPart   = 32, 8
	waitingUserPart, waitingPart = 64, 16
)

// newBounds returns the bounds of a process that may use so many bytes; 0: as many as it wants.
func newBounds(memory int64) *bounds {
	shareOf := func(user, userPart, all, part int) share {
		if memory == 0 {
			return share{user, all}
		}
		return share{int(min(int64(user), memory/int64(userPart))), int(min(int64(all), memory/int64(part)))}
	}
	return &bounds{
		partial: partials{most: shareOf(partialUserMax, partialUserPart, partialMax, partialPart)},
		waiting: shareOf(waitingUserMax, waitingUserPart, waitingMax, waitingPart),
		backlog: backlogs{most: shareOf(unreadUserMax, unreadUserPart, unreadMax, unreadPart)},
	}
}
