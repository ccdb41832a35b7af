// Package frameworks has an adapter for each of five agent frameworks in Go. Each file
// stands alone and is there to be copied: the part that calls [winnow.Adapter.Fit] has about
// twenty lines, and below it stands what the framework's messages mean.
package frameworks
