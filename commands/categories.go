package commands

// Categories are ACL categories.
type Categories uint32

// The categories, in the order in which ACL CAT lists them.
const (
	CatKeyspace Categories = 1 << iota
	CatRead
	CatWrite
	CatSet
	CatSortedSet
	CatList
	CatHash
	CatString
	CatBitmap
	CatHyperLogLog
	CatGeo
	CatStream
	CatPubSub
	CatAdmin
	CatFast
	CatSlow
	CatBlocking
	CatDangerous
	CatConnection
	CatTransaction
	CatScripting
)

// implied gives the categories that follow from flags and group, as Redis's command files say.
func implied(s *Spec) (c Categories) {
	switch s.Group {
	case GroupString:
		c |= CatString
	case GroupGeneric:
		c |= CatKeyspace
	case GroupConnection:
		c |= CatConnection
	}
	if s.Flags&Write != 0 {
		c |= CatWrite
	}
	if s.Flags&ReadOnly != 0 && s.Categories&CatScripting == 0 {
		c |= CatRead
	}
	if s.Flags&Admin != 0 {
		c |= CatAdmin | CatDangerous
	}
	if s.Flags&PubSub != 0 {
		c |= CatPubSub
	}
	if s.Flags&Blocking != 0 {
		c |= CatBlocking
	}
	if s.Flags&Fast != 0 {
		c |= CatFast
	} else {
		c |= CatSlow
	}
	return c
}
