// Package resp is the codec of the Redis protocol, RESP2 and RESP3: pure bytes, in and out.
//
// [Decoder] cuts what a client sends into commands, [Writer] appends replies, and float.go and
// int.go read and spell numbers the way Redis does, digit for digit. [Reader] is the other side
// of the wire, for tests and tools.
//
// What it is not: it knows no socket, no command and no key; it starts no goroutine and reads no
// clock. It imports the standard library alone.
//
// Invariants:
//   - Decoding a command never copies an argument (quoted inline words excepted), and costs
//     time linear in its bytes however they are split.
//   - Splitting the input differently never changes a command or an error (FuzzDecoder).
//   - No text handed to Writer can break the framing of the reply.
//   - Decoder and Writer allocate nothing per call, but for a buffer that has to grow.
//
// Start reading at [Decoder.Next], then [Writer].
package resp
