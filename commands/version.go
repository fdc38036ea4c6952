package commands

// RedisVersion is the version of Redis whose behaviour this is: clients choose what they send by
// it. KilnVersion is our own.
const (
	RedisVersion = "8.0.6"
	KilnVersion  = "0.1.0"
)
