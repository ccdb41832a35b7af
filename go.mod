module github.com/winnow-llm/winnow

go 1.26.0

require (
	github.com/go-json-experiment/json v0.0.0-20260820222146-c27c302e5fc3
	github.com/google/go-cmp v0.7.0
	github.com/klauspost/compress v1.20.3
	golang.org/x/sync v0.24.0
	pgregory.net/rapid v1.3.0
)
