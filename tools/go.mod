module github.com/winnow-llm/winnow/tools

go 1.26

require github.com/pkoukk/tiktoken-go-loader v0.0.2
