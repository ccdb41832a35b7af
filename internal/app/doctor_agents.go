package app

import (
	"cmp"
	"context"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strings"

	"github.com/winnow-llm/winnow/internal/agents/table"
	"github.com/winnow-llm/winnow/internal/app/agents"
)

// defaultGateway is where winnow serve listens when nothing is said.
const defaultGateway = "http://127.0.0.1:8484"

// checkGateway says whether a gateway answers; it is wrong that a named one does
// not.
func (a *app) checkGateway(ctx context.Context, c *checkup, named string) {
	address := cmp.Or(named, defaultGateway)
	switch err := checkReachable(ctx, address); {
	case err == nil:
		c.add("gateway", found, "", "one answers at %s", plainURL(address))
	case named != "":
		c.add("gateway", wrong, "start one: winnow serve", "no gateway answers at %s", plainURL(named))
	default:
		c.add("gateway", noted, "winnow serve starts one; winnow wrap AGENT starts its own", "none answers at %s", defaultGateway)
	}
}

// checkAgents says which agents are here and where they send their requests.
func (a *app) checkAgents(ctx context.Context, c *checkup) {
	known := agents.Known(a.homeDir(), a.getenv)
	none, names := true, make([]string, len(known))
	for i := range known {
		g := &known[i]
		names[i] = g.Name
		program := onPath(g.Program)
		if program == "" && !g.Found() {
			continue
		}
		none = false
		where := "its program " + g.Program + " is not on the PATH, but it has left sessions"
		if program != "" {
			where = a.shortPath(program)
		}
		a.checkPointed(ctx, c, g, where)
	}
	if none {
		c.add("agents", noted, "winnow wrap PROGRAM runs any other", "none of %s is on this machine", joinWords(names))
	}
}

// checkPointed says where one agent is pointed, and whether somebody answers
// there.
func (a *app) checkPointed(ctx context.Context, c *checkup, g *agents.Agent, where string) {
	at := a.pointedAddresses(g)
	if len(at) == 0 {
		c.add("agents", noted, "winnow wrap "+g.Program+" runs it inside its window", "%s: %s; it talks to its provider directly", g.Name, where)
		return
	}
	for _, p := range at {
		u, err := parseGateway(p.address)
		switch {
		case err != nil:
			c.add("agents", wrong, "write a URL such as "+defaultGateway, "%s: %s is not an address", g.Name, p.from)
		case !isLoopback(u.Hostname()):
			c.add("agents", noted, "", "%s: %s; %s points it at %s, which is not on this machine and was not tried", g.Name, where, p.from, plainURL(p.address))
		default:
			root := url.URL{Scheme: u.Scheme, Host: u.Host}
			if checkReachable(ctx, root.String()) != nil {
				c.add("agents", wrong, "start a gateway there (winnow serve --listen "+u.Host+"), or take the address out", "%s: %s points it at %s, where no gateway answers", g.Name, p.from, plainURL(p.address))
				continue
			}
			c.add("agents", found, "", "%s: %s; %s points it at the gateway at %s", g.Name, where, p.from, plainURL(p.address))
		}
	}
}

// plainURL returns an address without what may be secret in it.
func plainURL(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return "an address that cannot be read"
	}
	return (&url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}).String()
}

// pointedAt is an address that an agent was given, and where.
type pointedAt struct{ address, from string }

// pointedAddresses returns the addresses that an agent was given.
func (a *app) pointedAddresses(g *agents.Agent) []pointedAt {
	row, _ := table.Find(g.Program)
	points := &row.Addresses
	var out []pointedAt
	for _, v := range points.Variables {
		if address := a.getenv(v); address != "" {
			out = append(out, pointedAt{address, v})
		}
	}
	for _, place := range points.Files {
		file := place.In(a.homeDir(), a.getenv)
		data, err := os.ReadFile(file)
		if err != nil {
			continue // it is not there, or the agent cannot read it either
		}
		for _, address := range valuesNamed(data, strings.HasSuffix(file, ".toml"), points.Members) {
			if p := (pointedAt{address, a.shortPath(file)}); !slices.Contains(out, p) {
				out = append(out, p)
			}
		}
	}
	return out
}

// tomlLine and jsonMember set a text.
var (
	tomlLine   = regexp.MustCompile(`(?m)^[ \t]*([A-Za-z_.]+)[ \t]*=[ \t]*["']([^"'\n]*)["']`)
	jsonMember = regexp.MustCompile(`"([A-Za-z_.]+)"\s*:\s*"([^"\\\n]*)"`)
)

// valuesNamed returns the texts that stand in a file under one of these names.
func valuesNamed(data []byte, toml bool, names []string) (out []string) {
	set := jsonMember
	if toml {
		set = tomlLine
	}
	for _, m := range set.FindAllSubmatch(data, -1) {
		if slices.Contains(names, string(m[1])) {
			out = append(out, string(m[2]))
		}
	}
	return out
}
