module github.com/winnow-llm/winnow/llm/gcp

go 1.26.0

require (
	github.com/winnow-llm/winnow v0.1.0
	golang.org/x/oauth2 v0.37.0
)

require (
	cloud.google.com/go/compute/metadata v0.9.0 // indirect
	github.com/go-json-experiment/json v0.0.0-20260820222146-c27c302e5fc3 // indirect
	golang.org/x/sys v0.49.0 // indirect
)
