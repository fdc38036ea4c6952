package commands

import "bytes"

func cmdRename(c *Call) error {
	if _, err := c.rename(true); err != nil {
		return err
	}
	c.Reply.OK()
	return nil
}

func cmdRenamenx(c *Call) error {
	renamed, err := c.rename(false)
	if err != nil {
		return err
	}
	if renamed {
		c.Reply.Int(1)
	} else {
		c.Reply.Int(0)
	}
	return nil
}

// rename gives a key another name. A name is left as it is where it is the key's own, and where
// another key has it that must not be replaced.
func (c *Call) rename(replace bool) (renamed bool, err error) {
	key, target := c.Args.Next(), c.Args.Next()
	e, err := c.entry(key, lookupWrite)
	if err != nil {
		return false, err
	}
	if !e.Exists() {
		return false, errNoKey
	}
	if bytes.Equal(key, target) {
		return false, nil
	}
	if free, err := c.clear(c.DB, target, replace); !free || err != nil {
		return false, err
	}
	if err := c.moveTo(key, c.DB, target); err != nil {
		return false, err
	}
	c.Event(ClassGeneric, "rename_from", key)
	c.Event(ClassGeneric, "rename_to", target)
	return true, nil
}

// clear makes a name free, if need be by deleting the key that has it, which is no event: the key
// is written anew. It tells whether the name is free.
func (c *Call) clear(db int, target []byte, replace bool) (free bool, err error) {
	e, err := c.entryIn(db, target, lookupWrite)
	if err != nil || !e.Exists() {
		return true, err
	}
	if !replace {
		return false, nil
	}
	return true, c.dropIn(db, e, target)
}

// cmdMove: the database is checked before the key: conformance generic/move_errors.
func cmdMove(c *Call) error {
	key, db := c.Args.Next(), c.Args.index()
	if err := c.Args.Err(); err != nil {
		return err
	}
	if !c.hasDB(db) {
		return errDBRange
	}
	if db == c.DB {
		return errSameObject
	}

	moved, err := c.move(key, db)
	if err != nil {
		return err
	}

	if moved {
		c.Reply.Int(1)
	} else {
		c.Reply.Int(0)
	}
	return nil
}

func (c *Call) move(key []byte, db int) (moved bool, err error) {
	e, err := c.entry(key, lookupWrite)
	if err != nil || !e.Exists() {
		return false, err
	}
	if free, err := c.clear(db, key, false); !free || err != nil {
		return false, err
	}
	if err := c.moveTo(key, db, key); err != nil {
		return false, err
	}
	c.Event(ClassGeneric, "move_from", key)
	c.eventIn(db, ClassGeneric, "move_to", key)
	return true, nil
}

// cmdCopy: the number of a database is checked where it stands among the options: conformance
// generic/copy_errors.
func cmdCopy(c *Call) error {
	a := &c.Args
	key, target := a.Next(), a.Next()
	db, replace := c.DB, false
	for a.More() {
		switch {
		case a.Is("REPLACE"):
			replace = true
		case a.Left() > 1 && a.Is("DB"):
			if db = a.index(); !c.hasDB(db) {
				a.Fail(errDBRange)
			}
		default:
			a.Fail(errSyntax)
		}
	}
	if err := a.Err(); err != nil {
		return err
	}
	if db == c.DB && bytes.Equal(key, target) {
		return errSameObject
	}

	copied, err := c.copy(key, db, target, replace)
	if err != nil {
		return err
	}

	if copied {
		c.Reply.Int(1)
	} else {
		c.Reply.Int(0)
	}
	return nil
}

func (c *Call) copy(key []byte, db int, target []byte, replace bool) (copied bool, err error) {
	e, err := c.entry(key, lookupRead)
	if err != nil || !e.Exists() {
		return false, err
	}
	if free, err := c.clear(db, target, replace); !free || err != nil {
		return false, err
	}
	if err := c.copyTo(key, db, target); err != nil {
		return false, err
	}
	c.eventIn(db, ClassGeneric, "copy_to", target)
	return true, nil
}
