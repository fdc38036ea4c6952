package commands

// clientFilter says which clients CLIENT KILL means. What is not given, fits all.
type clientFilter struct {
	id          int64
	addr, laddr []byte
	kind        clientKind
	maxAge      int64 // seconds
	skipMe      bool
}

// cmdClientKill has an old form, one address, which answers OK or fails, and kills the caller
// too; and a new one, which counts.
func cmdClientKill(c *Call) error {
	old := c.Args.Left() == 1
	f := clientFilter{skipMe: !old}
	if old {
		f.addr = c.Args.Next()
	} else {
		f.parse(&c.Args)
	}
	if err := c.Args.Err(); err != nil {
		return err
	}

	killed := c.kill(&f)
	if old && killed == 0 {
		return errNoClient
	}

	if old {
		c.Reply.OK()
	} else {
		c.Reply.Int(int64(killed))
	}
	return nil
}

// kill closes the clients outside of eachClient, which may hold what Close needs.
func (c *Call) kill(f *clientFilter) int {
	var doomed []*Session
	c.eachClient(func(s *Session) bool {
		if f.fits(c, s) {
			doomed = append(doomed, s)
		}
		return true
	})
	for _, s := range doomed {
		if s == c.Conn {
			s.Closing = true // After the reply.
		}
		c.Server.Clients.Close(s)
	}
	return len(doomed)
}

// parse reads pairs; a filter without its value is no filter.
func (f *clientFilter) parse(a *Args) {
	for a.More() {
		paired := a.Left() > 1
		switch {
		case !paired:
			a.Fail(errSyntax)
		case a.Is("ID"):
			if f.id = a.Int(errClientIDRange); f.id < 1 {
				a.Fail(errClientIDRange)
			}
		case a.Is("MAXAGE"):
			if f.maxAge = a.Int(errMaxAgeNotInt); f.maxAge < 1 {
				a.Fail(errMaxAgeRange)
			}
		case a.Is("TYPE"):
			f.kind = a.kind()
		case a.Is("ADDR"):
			f.addr = a.Next()
		case a.Is("LADDR"):
			f.laddr = a.Next()
		case a.Is("USER"): // There is one, which all clients are, even before AUTH.
			if name := a.Next(); string(name) != defaultUser {
				a.Fail(errNoUser(name))
			}
		case a.Is("SKIPME"):
			f.parseSkipMe(a)
		default:
			a.Fail(errSyntax)
		}
	}
}

func (f *clientFilter) parseSkipMe(a *Args) {
	switch {
	case a.Is("YES"):
		f.skipMe = true
	case a.Is("NO"):
		f.skipMe = false
	default:
		a.Fail(errSyntax)
	}
}

func (f *clientFilter) fits(c *Call, s *Session) bool {
	switch {
	case f.skipMe && s == c.Conn:
	case f.id != 0 && f.id != s.ID:
	case f.kind != anyKind && f.kind != s.kind():
	case f.addr != nil && string(f.addr) != s.Addr:
	case f.laddr != nil && string(f.laddr) != s.LocalAddr:
	case f.maxAge != 0 && (c.Now-s.Created)/1e9 < f.maxAge:
	default:
		return true
	}
	return false
}
