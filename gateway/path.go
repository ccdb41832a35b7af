package gateway

import (
	"net/url"
	"regexp"
	"slices"
	"strings"
)

// Clients and upstreams disagree about who writes the API's version. Some base
// URLs end in /v1 and their clients append /messages; others end before it and
// their clients append /v1/messages; and people mix the two. The gateway takes
// every form and sends one:
//
//	client asks for              upstream is          arrives at
//	/v1/messages                 https://host         /v1/messages
//	/messages                    https://host         /v1/messages
//	/v1/messages                 https://host/v1      /v1/messages
//	/messages                    https://host/v1      /v1/messages
//	/v1/v1/messages              https://host         /v1/messages
//	/NAME/chat/completions       https://host/api     /api/v1/chat/completions
//	/NAME/chat/completions       https://host/api/v4  /api/v4/chat/completions
//	/v1/responses                https://host/backend-api/codex  /backend-api/codex/responses
//	/backend-api/codex/responses https://host/backend-api/codex  /backend-api/codex/responses

// isVersion reports whether a word of a path names the version of an API: v1,
// v4, v1beta, v1beta2.
var isVersion = regexp.MustCompile(`^v[0-9]+((alpha|beta)[0-9]*)?$`).MatchString

// dropRepeatedVersion takes a version off that stands twice at the start of a path, as it does
// where a base URL ends in the version that its client adds too.
func dropRepeatedVersion(path string) string {
	for {
		first, rest, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/")
		second, _, _ := strings.Cut(rest, "/")
		if !isVersion(first) || first != second {
			return path
		}
		path = "/" + rest
	}
}

// lacksVersion reports whether a path begins with a call of the OpenAI or Anthropic API
// where the version should stand.
func lacksVersion(path string) bool {
	return slices.ContainsFunc([]string{"/chat/completions", "/responses", "/messages", "/completions", "/embeddings", "/models"}, func(call string) bool {
		rest, ok := strings.CutPrefix(path, call)
		return ok && (rest == "" || rest[0] == '/')
	})
}

// unversioned are hosts whose API has no version in its paths.
var unversioned = map[string]bool{
	"api.perplexity.ai":     true,
	"api.githubcopilot.com": true,
	"models.github.ai":      true,
}

// arrivalPath returns the path, as it is escaped, under which a call reaches an
// upstream.
func arrivalPath(base *url.URL, path string) string {
	path = dropRepeatedVersion(path)
	own := strings.Split(base.EscapedPath(), "/")
	last := own[len(own)-1]
	first, _, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	switch {
	case slices.Contains(own, "backend-api"): // ChatGPT's, which has no version
		path = strings.TrimPrefix(strings.TrimPrefix(path, "/backend-api/codex"), "/v1")
	case isVersion(last) && first == last:
		path = path[1+len(last):]
	case !lacksVersion(path) || unversioned[strings.ToLower(base.Hostname())]:
	case strings.HasPrefix(path, "/models/") && strings.Contains(path, ":"): // of Gemini: the model, and what to do with it
		if !hasVersion(own) {
			path = "/v1beta" + path
		}
	case !hasVersion(own):
		path = "/v1" + path
	}
	return base.EscapedPath() + path
}

// hasVersion reports whether the words of a base URL's path say all that stands
// before the call: a version, or one of Azure's deployments, which have none.
func hasVersion(words []string) bool {
	for i, word := range words {
		if isVersion(word) || word == "deployments" && i < len(words)-1 {
			return true
		}
	}
	return false
}
