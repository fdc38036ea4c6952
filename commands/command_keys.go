package commands

func cmdCommandGetkeys(c *Call) error {
	argv, places, err := c.placesOfKeys()
	if err != nil {
		return err
	}
	c.Reply.Array(len(places))
	for _, p := range places {
		c.Reply.Bulk(argv[p.At])
	}
	return nil
}

func cmdCommandGetkeysandflags(c *Call) error {
	argv, places, err := c.placesOfKeys()
	if err != nil {
		return err
	}
	c.Reply.Array(len(places))
	for _, p := range places {
		c.Reply.Array(2)
		c.Reply.Bulk(argv[p.At])
		c.replyKeyFlags(p.Flags)
	}
	return nil
}

// placesOfKeys finds the keys in the command line that the arguments are.
func (c *Call) placesOfKeys() (argv [][]byte, places []KeyPlace, err error) {
	argv = c.Args.Rest()
	s, err := c.Spec.table.resolve(argv)
	switch {
	case err != nil:
		return nil, nil, errKeysUnknown
	case !s.hasKeys():
		return nil, nil, errKeysNone
	case !s.fits(len(argv)):
		return nil, nil, errKeysArity
	}
	places, ok := s.FindPlaces(argv, nil)
	if ok && len(places) > 0 {
		return argv, places, nil
	}
	if s.Flags&NoMandatoryKeys != 0 {
		return argv, nil, nil
	}
	return nil, nil, errKeysNotFound
}

func (s *Spec) hasKeys() bool {
	if s.Places != nil {
		return true
	}
	for i := range s.Keys {
		if s.Keys[i].Flags&KeyNotKey == 0 {
			return true
		}
	}
	return false
}

// FindPlaces appends the places of the keys of a command line whose arity is met. It is stricter
// than FindKeys, and as Redis is: a spec that finds no key at all has failed.
func (s *Spec) FindPlaces(argv [][]byte, dst []KeyPlace) ([]KeyPlace, bool) {
	if s.Places != nil {
		return s.Places(argv, dst)
	}
	for i := range s.Keys {
		k := &s.Keys[i]
		if k.Flags&KeyNotKey != 0 {
			continue
		}
		places, ok := k.places(argv)
		if !ok || len(places) == 0 && k.Keyword == "" {
			return nil, false
		}
		for _, at := range places {
			dst = append(dst, KeyPlace{At: at, Flags: k.Flags})
		}
	}
	return dst, true
}

// setPlaces knows what SET does with its key: with GET or a condition on its value it reads it.
func setPlaces(argv [][]byte, dst []KeyPlace) ([]KeyPlace, bool) {
	flags := KeyOW | KeyUpdate
	for _, w := range argv[min(3, len(argv)):] {
		switch {
		case equalFold(w, "GET"), equalFold(w, "IFEQ"), equalFold(w, "IFNE"),
			equalFold(w, "IFDEQ"), equalFold(w, "IFDNE"):
			flags = KeyRW | KeyAccess | KeyUpdate
		}
	}
	return append(dst, KeyPlace{At: 1, Flags: flags}), true
}
