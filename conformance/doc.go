// Package conformance is the black box: it replays transcripts against any server that
// speaks RESP, and says where the replies differ.
//
// A transcript is a text file of commands and the replies that real Redis gives to them. It is
// the specification: `go test ./conformance` replays all of testdata against Kiln, and, where
// KILN_REFERENCE names a server, against that one too, so that the recorded replies cannot
// drift from the truth. `-record` rewrites them from the reference.
//
// TestRandom needs no transcript: it tells Kiln and the reference the same random commands, valid
// and broken, and wants the same replies (random.go makes them, differ.go plays them, alike.go says
// what may differ).
//
// The package is not a client library and knows no command. It imports nothing of ours; it
// meets Kiln only over a socket.
//
// Start reading in transcript.go, whose header draws the format. reply.go has the values,
// relax.go how they are compared, player.go the replay, server.go the processes under test.
package conformance
