package app

import (
	"strings"

	"github.com/winnow-llm/winnow/gateway"
)

// whereTo says how programs find a gateway: by the variables for the APIs that it
// reaches, or by the path of an upstream with another name.
func whereTo(base string, upstreams []gateway.Upstream) string {
	var ways []string
	for _, up := range upstreams {
		if up.Name == "chatgpt" || up.Name == "code-assist" { // chosen by the login
			continue
		}
		way := base + "/" + up.Name + "/"
		for _, b := range baseURLs {
			if b.upstream == up.Name {
				way = b.variable + "=" + base + b.suffix
				break // the first is what most read
			}
		}
		ways = append(ways, way)
	}
	return strings.Join(ways, " or ")
}
