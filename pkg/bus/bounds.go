package bus

// memoryBounds are those of the memory that all connections take together: what has begun to
// arrive, what waits to be handled, and what waits for clients who do not read.
type memoryBounds struct {
	incomplete incompleteMessages
	waiting    memoryShare
	unread     writeBacklogs
}

// memoryShare is how many bytes those of one user or daemon, and those of all users, may take.
type memoryShare struct{ user, all int }

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

// newMemoryBounds returns the bounds of a process that may use so many bytes; 0: as many as it wants.
func newMemoryBounds(memory int64) *memoryBounds {
	shareOf := func(user, userPart, all, part int) memoryShare {
		if memory == 0 {
			return memoryShare{user, all}
		}
		return memoryShare{int(min(int64(user), memory/int64(userPart))), int(min(int64(all), memory/int64(part)))}
	}
	return &memoryBounds{
		incomplete: incompleteMessages{most: shareOf(partialUserMax, partialUserPart, partialMax, partialPart)},
		waiting:    shareOf(waitingUserMax, waitingUserPart, waitingMax, waitingPart),
		unread:     writeBacklogs{most: shareOf(unreadUserMax, unreadUserPart, unreadMax, unreadPart)},
	}
}

// PayloadMax is what the server must take in one message: requests with big
// scripts. Frames stay below FrameMax.
const PayloadMax = 8 << 20

// largeMessage is the longest message that a connection may hold without a reservation.
const largeMessage = 64 << 10
