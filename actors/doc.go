// Package actors says who owns what, and who talks to whom: it brings commands to the partitions
// that own their keys, one at a time for each partition, and at one instant where a command needs
// several.
//
// It is not about sockets (package wire) nor about what a command means (package commands).
//
// # The life of a command
//
//   - wire/loop.go: a loop reads bytes, decodes up to a batch of commands, and for each calls
//     Loop.Prepare (loop.go), which finds the row, the keys, their hashes and partitions
//     (router.go). Loop.Prefetch asks for the index lines, then for the records.
//   - Loop.Run executes them in order. A command on one key enters its partition (mailbox.go),
//     which costs one compare-and-swap, runs commands.Exec on the spot, and leaves. One on several
//     keys enters all their partitions, or none.
//   - What cannot be run at once becomes a Request (request.go), and its client is parked: if the
//     partition is busy it is queued there and run by the runner of the moment; if one of several
//     is busy it goes to the gathers (gather.go); if it is slow it goes to a worker, which holds
//     its keys instead of their partitions (hold.go). Request.Done tells the client's loop.
//   - What a command changed is given to the listener (journal.go) while its partitions are held.
//
// # Invariants
//
//   - A partition is never entered by two goroutines at once. Who has entered it is its runner.
//   - An event loop never waits. A worker waits for one partition at a time, while it holds none.
//     An admitted gather waits for partitions while it holds others, but only for runners that wait
//     for nobody. A slow command takes hold of keys in one order, and waits no more once it has
//     them.
//   - No actor is ever restarted (supervise.go).
package actors
