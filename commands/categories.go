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

	// CatNoGroup is none: a row that has it is not in its group's category. WAIT is in the group
	// generic, but not @keyspace.
	CatNoGroup
)

// categoryNames are the categories by their bits.
var categoryNames = [...]string{
	"keyspace", "read", "write", "set", "sortedset", "list", "hash", "string", "bitmap",
	"hyperloglog", "geo", "stream", "pubsub", "admin", "fast", "slow", "blocking", "dangerous",
	"connection", "transaction", "scripting",
}

// groupCategories are the categories that come with a group. A server or cluster command has none.
var groupCategories = map[Group]Categories{
	GroupBitmap:       CatBitmap,
	GroupConnection:   CatConnection,
	GroupGeneric:      CatKeyspace,
	GroupGeo:          CatGeo,
	GroupHash:         CatHash,
	GroupHyperLogLog:  CatHyperLogLog,
	GroupList:         CatList,
	GroupPubSub:       CatPubSub,
	GroupScripting:    CatScripting,
	GroupSet:          CatSet,
	GroupSortedSet:    CatSortedSet,
	GroupStream:       CatStream,
	GroupString:       CatString,
	GroupTransactions: CatTransaction,
}

// implied gives the categories that follow from flags and group, as Redis's command files say. A
// container is only slow: what it does is up to the subcommand.
func implied(s *Spec) (c Categories) {
	if s.Subs == nil && s.Categories&CatNoGroup == 0 {
		c |= groupCategories[s.Group]
	}
	if s.Flags&Write != 0 {
		c |= CatWrite
	}
	if s.Flags&ReadOnly != 0 && (s.Categories|c)&CatScripting == 0 {
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

// category finds a category by its name, in any case; 0 is none.
func category(name []byte) Categories {
	for i, n := range categoryNames {
		if sameName(name, n) {
			return 1 << i
		}
	}
	return 0
}
