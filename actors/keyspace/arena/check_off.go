//go:build !arenacheck

package arena

const (
	checked = false
	redZone = 0
)

type shadow struct{}

func (*shadow) allocated(Addr, int) {}
func (*shadow) freed(Addr, int)     {}
func (*shadow) verify(Addr, int)    {}
