package bus

// LogCheck is what CheckLog finds.
type LogCheck struct {
	// Whole: a server that starts changes nothing of the log, but for an end that was never acknowledged.
	Whole bool
	// Rebuild is what ServerOptions.Rebuild has to be.
	Rebuild bool
}

// CheckLog reads the log in a directory, whose server must not run (ErrInUse), without a server, and changes nothing. A
// server that finds a bad record cuts the block there, so an owner that refuses a damaged log calls this before Start,
// and tries on a copy what is left, see StartCopy. mark is LogOptions.HighWaterMark: an end that was never acknowledged
// may be missing or half written, as after a power cut.
//
// It reads what the server would read: all blocks, if the server has to make its index anew as after a crash, else
// those with the messages from one on, which the owner is going to read. So a start reads no file that it did not read,
// and none is copied unless it is damaged.
func CheckLog(dir, mark string, from uint64) (c LogCheck, err error) {
	if readEngineBlocks == nil {
		return c, ErrNoEngine
	}
	lock, err := lockDirShared(dir)
	if err != nil {
		return c, err
	}
	defer lock.Close()
	blocks, err := readEngineBlocks(messagesDir(dir), streamName, from)
	if err != nil {
		return c, err
	}
	c.Whole = true
	last := uint64(0)
	for i, b := range blocks {
		if !b.Whole && i < len(blocks)-1 || last > 0 && b.First > last+1 {
			c.Whole = false
		}
		c.Rebuild = c.Rebuild || b.Lost
		last = max(last, b.Last)
	}
	m, err := readHighWaterMark(mark)
	if m == nil || err != nil {
		return c, err
	}
	c.Whole = c.Whole && m.readPoint().Stream <= last
	return c, m.file.Close()
}
