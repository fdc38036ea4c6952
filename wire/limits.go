package wire

import "time"

const (
	// readBytes is what a loop reads at a time, and so the largest batch in bytes.
	readBytes = 64 << 10
	// flushBytes is when replies are written before all clients that had something to say were
	// served: so the loop's reply buffer stays in the cache.
	flushBytes = 64 << 10
	// writeBytes is what a loop writes at a time to a client with a backlog: about 60 us.
	writeBytes = 256 << 10
	// pendingMax is how many bytes of replies a client may leave unread before its further
	// commands wait. One reply may be larger than that.
	pendingMax = 1 << 20
	// aheadMax is how many bytes a client may send ahead of the commands that wait before it is
	// not read any more.
	aheadMax = 1 << 20
	// strangerMax is how many bytes of replies a client that has not authenticated may leave
	// unread, as in Redis: that is above what the socket takes.
	strangerMax = 1 << 10
	// blockBytes is the least that is allocated for replies that a socket did not take.
	blockBytes = 16 << 10
	// joinBytes is how much of an incomplete command is copied in front of the bytes that follow,
	// rather than these behind it.
	joinBytes = 16 << 10
	// queryKeep is the largest buffer that a client keeps for its next incomplete command.
	queryKeep = 4 << 10
	// quickWaitMs is how long a loop waits for the next event while it still counts as running. The
	// scheduler's monitor interrupts it after 10 ms. A shorter time would be the machine's next timer
	// and have to be set in hardware each time: a tenth of the CPU of a PING.
	quickWaitMs = 100
	// argvKeep is how many words a batch may have before their slice is made anew.
	argvKeep = 16 << 10
	// eventsMax is how many ready sockets a loop asks for at a time.
	eventsMax = 256
	// acceptMax is how many connections are accepted before others are served again.
	acceptMax = 64
	// acceptPause is how long accepting rests when the process is out of descriptors.
	acceptPause = 100 * time.Millisecond
	// drainPatience bounds how long a server that stops waits for commands under way.
	drainPatience = 5 * time.Second
	// readPatience bounds how long it waits for clients to read their replies.
	readPatience = time.Second
	// checkPeriod is how often clients are looked for whose time has run out.
	checkPeriod = time.Second
)
