package llm

import (
	"cmp"
	"net"
	"net/url"
	"strings"

	"github.com/winnow-llm/winnow/wire"
)

// plainAddress sets the address that every server of chat completions or responses
// has.
func plainAddress(s *setup) error {
	base, err := s.baseAddress()
	if err != nil {
		return err
	}
	path := "/chat/completions"
	if s.p.dialect == wire.Responses {
		path = "/responses"
	}
	s.plain = base + path
	return nil
}

func openAIAddress(s *setup) error {
	for _, h := range [...][2]string{{"OPENAI_ORG_ID", "OpenAI-Organization"}, {"OPENAI_PROJECT_ID", "OpenAI-Project"}} {
		if v, _ := s.firstEnv(h[0]); v != "" && s.header.Get(h[1]) == "" {
			s.header.Set(h[1], v)
		}
	}
	return plainAddress(s)
}

// azureVersion is the API version that is used when none is named.
const azureVersion = "2024-10-21"

// azureAddress: the model is the name of a deployment, and stands in the path.
// An endpoint that ends in /openai/v1 is Azure's newer form, which is OpenAI's.
func azureAddress(s *setup) error {
	base, err := s.baseAddress()
	if err != nil {
		return err
	}
	version := s.optionOrEnv(s.o.APIVersion, "AZURE_OPENAI_API_VERSION", "OPENAI_API_VERSION", "AZURE_API_VERSION")
	if strings.HasSuffix(base, "/openai/v1") {
		s.plain = base + "/chat/completions"
		if version != "" {
			s.plain += "?api-version=" + url.QueryEscape(version)
		}
		return nil
	}
	version = cmp.Or(version, azureVersion)
	base = strings.TrimSuffix(base, "/openai")
	s.plain = base + "/openai/deployments/" + escapeSegment(s.model) + "/chat/completions?api-version=" + url.QueryEscape(version)
	return nil
}

// anthropicAddress: the base is given without the version, as Anthropic's own
// tools want it, but people write it both ways.
func anthropicAddress(s *setup) error {
	base, err := s.baseAddress()
	if err != nil {
		return err
	}
	if s.header.Get("Anthropic-Version") == "" {
		s.header.Set("Anthropic-Version", "2023-06-01")
	}
	s.plain = strings.TrimSuffix(base, "/v1") + "/v1/messages"
	return nil
}

func googleAddress(s *setup) error {
	base, err := s.baseAddress()
	if err != nil {
		return err
	}
	if !strings.HasSuffix(base, "/v1beta") && !strings.HasSuffix(base, "/v1") {
		base += "/v1beta"
	}
	name := "models/" + escapeSegment(strings.TrimPrefix(s.model, "models/"))
	if tuned, ok := strings.CutPrefix(s.model, "tunedModels/"); ok {
		name = "tunedModels/" + escapeSegment(tuned)
	}
	s.setGeminiVerbs(base + "/" + name)
	return nil
}

// setGeminiVerbs sets the two verbs of a Gemini model.
func (s *setup) setGeminiVerbs(model string) {
	s.plain = model + ":generateContent"
	s.stream = model + ":streamGenerateContent?alt=sse"
}

// vertexAddress: Gemini in a project and a region, or Claude there.
func vertexAddress(s *setup) error {
	project := s.optionOrEnv(s.o.Project, "GOOGLE_CLOUD_PROJECT", "GOOGLE_VERTEX_PROJECT", "VERTEXAI_PROJECT", "GCLOUD_PROJECT")
	if a, ok := s.o.Auth.(interface{ Project() string }); ok && project == "" {
		project = a.Project()
	}
	if project == "" {
		return s.newError("no project is known", "or give Options.Project", "GOOGLE_CLOUD_PROJECT")
	}
	region := cmp.Or(s.optionOrEnv(s.o.Region, "GOOGLE_CLOUD_LOCATION", "GOOGLE_CLOUD_REGION", "GOOGLE_VERTEX_LOCATION", "VERTEXAI_LOCATION"), "us-central1")
	if !hostWord(region) {
		return s.newError("this is not a region", "check Options.Region", "GOOGLE_CLOUD_LOCATION")
	}
	base := s.base
	switch {
	case base != "":
	case region == "global":
		base = "https://aiplatform.googleapis.com"
	case region == "us" || region == "eu":
		base = "https://aiplatform." + region + ".rep.googleapis.com"
	default:
		base = "https://" + region + "-aiplatform.googleapis.com"
	}
	base = strings.TrimRight(base, "/")
	if !strings.HasSuffix(base, "/v1") && !strings.HasSuffix(base, "/v1beta1") {
		base += "/v1"
	}
	base += "/projects/" + escapeSegment(project) + "/locations/" + escapeSegment(region) + "/publishers/"
	model := strings.TrimPrefix(strings.TrimPrefix(s.model, "anthropic/"), "google/")
	if !strings.HasPrefix(model, "claude") {
		s.setGeminiVerbs(base + "google/models/" + escapeSegment(model))
		return nil
	}
	base += "anthropic/models/" + strings.ReplaceAll(escapeSegment(model), "%40", "@")
	s.plain, s.stream = base+":rawPredict", base+":streamRawPredict"
	s.codec = &sse{dialect: wire.Anthropic, version: "vertex-2023-10-16", output: s.o.Output}
	return nil
}

// awsRegion finds the region.
func (s *setup) awsRegion() (string, error) {
	region := s.optionOrEnv(s.o.Region, "AWS_REGION", "AWS_DEFAULT_REGION")
	if a, ok := s.o.Auth.(interface{ Region() string }); ok && region == "" {
		region = a.Region()
	}
	if region == "" {
		return "", s.newError("no region is known", "or give Options.Region", "AWS_REGION")
	}
	if !hostWord(region) {
		return "", s.newError("this is not a region", "check Options.Region", "AWS_REGION")
	}
	return region, nil
}

// awsAddress returns the address of a service in a region.
func (s *setup) awsAddress(service string) (string, error) {
	if s.base != "" {
		return strings.TrimRight(s.base, "/"), nil
	}
	region, err := s.awsRegion()
	if err != nil {
		return "", err
	}
	domain := ".amazonaws.com"
	if strings.HasPrefix(region, "cn-") {
		domain = ".amazonaws.com.cn"
	}
	return "https://" + service + "." + region + domain, nil
}

func bedrockAddress(s *setup) error {
	base, err := s.awsAddress("bedrock-runtime")
	if err != nil {
		return err
	}
	base += "/model/" + escapeSegment(s.model)
	s.plain, s.stream = base+"/converse", base+"/converse-stream"
	s.codec = &converse{model: s.model}
	return nil
}

// sageMakerAddress: the model is the name of an endpoint, whose container
// takes chat completions. A stream comes in AWS's own frames.
func sageMakerAddress(s *setup) error {
	base, err := s.awsAddress("runtime.sagemaker")
	if err != nil {
		return err
	}
	base += "/endpoints/" + escapeSegment(s.model)
	s.plain, s.stream = base+"/invocations", base+"/invocations-response-stream"
	s.codec = &sse{dialect: wire.OpenAI, limit: "max_tokens", framed: true}
	return nil
}

// ollamaAddress: OLLAMA_HOST is how Ollama's own tools name the server, often
// without a scheme and perhaps as the address that it listens on.
func ollamaAddress(s *setup) error {
	host, _ := s.firstEnv("OLLAMA_HOST")
	base, _ := s.firstEnv(s.p.baseVars...)
	if s.o.BaseURL == "" && base == "" && host != "" {
		s.base = ollamaHost(host)
	}
	return plainAddress(s)
}

func ollamaHost(host string) string {
	scheme, standard := "http", "11434"
	if before, after, ok := strings.Cut(host, "://"); ok {
		scheme, host = before, after
		standard = map[string]string{"http": "80", "https": "443"}[scheme]
	}
	host, path, _ := strings.Cut(host, "/")
	name, port, err := net.SplitHostPort(host)
	if err != nil {
		name, port = strings.Trim(host, "[]"), standard
	}
	if name == "" || name == "0.0.0.0" || name == "::" {
		name = "localhost"
	}
	base := scheme + "://" + net.JoinHostPort(name, port)
	if path = strings.Trim(path, "/"); path != "" {
		base += "/" + path
	}
	if !strings.HasSuffix(base, "/v1") {
		base += "/v1"
	}
	return base
}

// hostWord reports whether a word can stand in a host's name: a region from
// the environment must not choose another host.
func hostWord(s string) bool {
	return s != "" && len(s) < 64 && !strings.ContainsFunc(s, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < '0' || r > '9') && r != '-'
	})
}
