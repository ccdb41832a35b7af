module github.com/winnow-llm/winnow

go 1.26
