//go:build !unix

package privatetest
