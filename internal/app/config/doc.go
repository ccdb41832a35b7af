// Package config reads what can be set: settings files, variables and flags, in
// one table of keys that the command and the documents go by.
//
// [File] has everything that can be set. [Read] reads it once, with where each
// value comes from; [Watch] follows the files while a program runs. A project's
// file may come from anywhere, so it sets what could do harm only where the user
// trusts it.
package config
