# Everything is done by the go command; these are the longer lines.

CORPUS ?= $(or $(WINNOW_CORPUS),../shared)

.PHONY: test check scoreboard field pictures figures

test:
	go test work

check:
	.ci/run

# Measures on the sessions at hand and writes docs/field.md and docs/scoreboard.md.
scoreboard: field
	go run ./cmd/winnow replay $(CORPUS)/sessions $(CORPUS)/more-sessions --commit "$$(git rev-parse --short HEAD)" \
		--markdown docs/scoreboard.md

# The first of the two, which the README's figures come from.
field:
	go run ./cmd/winnow replay $(CORPUS)/sessions $(CORPUS)/more-sessions --alone --commit "$$(git rev-parse --short HEAD)" --markdown docs/field.md

# Puts what was measured into the README.
figures:
	go test -tags docs ./docs -count=1 -run TestFigures -update

pictures:
	go test ./internal/app -run TestPicture -count=1 -picture $(CURDIR)/docs/tree.svg
	cd e2e && go test . -run TestPictures -count=1 -pictures ../docs
