package commands

import (
	"bytes"

	"github.com/zeebo/xxh3"

	"kiln/actors/keyspace"
)

// condition is what SET and DELEX may ask of a string: its bytes, or their digest.
type condition struct {
	kind    conditionKind
	operand []byte
}

type conditionKind uint8

const (
	whenever conditionKind = iota
	whenEqual
	whenNotEqual
	whenDigest
	whenNotDigest
)

var conditions = [...]struct {
	kind    conditionKind
	keyword string
}{
	{whenEqual, "IFEQ"}, {whenNotEqual, "IFNE"}, {whenDigest, "IFDEQ"}, {whenNotDigest, "IFDNE"},
}

// is reads one of the four conditions, unless there was one already.
func (w *condition) is(a *Args) bool {
	if w.kind != whenever {
		return false
	}
	for i := range conditions {
		if a.Is(conditions[i].keyword) {
			w.kind, w.operand = conditions[i].kind, a.Next()
			return true
		}
	}
	return false
}

// equal reports whether the condition wants an equal: then it fails where there is no key.
func (w *condition) equal() bool { return w.kind == whenEqual || w.kind == whenDigest }

// holds reports whether a string is as asked. Of a digest only the length is looked at, and only
// here: what does not exist has none to compare it with (conformance string/set_ifdeq_errors).
//
// REQUIRES: the entry exists and is a string, and there is a condition.
func (w *condition) holds(e keyspace.Entry) (bool, error) {
	var scratch keyspace.Scratch
	value := e.Bytes(&scratch)
	var same bool
	if w.kind == whenEqual || w.kind == whenNotEqual {
		same = bytes.Equal(value, w.operand)
	} else {
		if len(w.operand) != digestLen {
			return false, errDigest
		}
		digest := digestOf(value)
		same = equalHex(digest[:], w.operand)
	}
	return same == w.equal(), nil
}

const digestLen = 16

// digestOf gives the XXH3 hash in hexadecimal digits.
func digestOf(b []byte) (digest [digestLen]byte) {
	h := xxh3.Hash(b)
	for i := range digest {
		digest[i] = "0123456789abcdef"[h>>(60-4*i)&0xf]
	}
	return digest
}

// equalHex compares digits in lower case with some in any case, which may be none at all.
func equalHex(lower, digits []byte) bool {
	for i, d := range digits {
		if 'A' <= d && d <= 'F' {
			d += 'a' - 'A'
		}
		if d != lower[i] {
			return false
		}
	}
	return true
}

func cmdDigest(c *Call) error {
	e, err := c.str(c.Args.Next())
	if err != nil {
		return err
	}
	if !e.Exists() {
		c.Reply.Null()
		return nil
	}
	var scratch keyspace.Scratch
	digest := digestOf(e.Bytes(&scratch))
	c.Reply.Bulk(digest[:])
	return nil
}

// cmdDelex looks at the condition's name last, after the key and its type.
func cmdDelex(c *Call) error {
	key := c.Args.Next()
	if n := c.Args.Left(); n != 0 && n != 2 {
		return errArity(c.Spec.full)
	}

	e, err := c.entry(key, lookupWrite)
	if err != nil {
		return err
	}
	if !e.Exists() {
		c.Reply.Int(0)
		return nil
	}
	if c.Args.More() {
		if e.Type() != keyspace.String {
			return errConditionType
		}
		var w condition
		if !w.is(&c.Args) {
			return errCondition
		}
		if e, err = c.strForWrite(key); err != nil {
			return err
		}
		if ok, err := w.holds(e); !ok || err != nil {
			return c.replyNone(err)
		}
	}

	if err := c.dropString(e, key); err != nil {
		return err
	}
	c.Reply.Int(1)
	return nil
}

func cmdDelifeq(c *Call) error {
	key, value := c.Args.Next(), c.Args.Next()

	e, err := c.strForWrite(key)
	if err != nil {
		return err
	}
	w := condition{kind: whenEqual, operand: value}
	if !e.Exists() {
		c.Reply.Int(0)
		return nil
	}
	if ok, err := w.holds(e); !ok || err != nil {
		return c.replyNone(err)
	}

	if err := c.dropString(e, key); err != nil {
		return err
	}
	c.Reply.Int(1)
	return nil
}
