package config

import "slices"

// ofTrust are the settings with which a project's file could do harm: run
// commands, get keys, send the conversation to a provider, tell the summariser what
// to write, place the store where others read it, delete the sessions of other
// projects, have secrets written.
var ofTrust = []string{
	"hooks", "summarizer", "summarizer_url", "focus", "store",
	"keep.age", "keep.bytes", "keep.sessions", "redact", "trust_project",
}

// dropUntrusted takes back what the project's file may not set. before is the settings
// without that file.
func (l *Loaded) dropUntrusted(before *Loaded) {
	for i := range allKeys {
		k := &allKeys[i]
		if !slices.Contains(ofTrust, k.Name) || l.From[k.Name] == before.From[k.Name] || k.Name == "redact" && l.Redact { // on is always allowed
			continue
		}
		l.Untrusted = append(l.Untrusted, k.Name)
		k.fieldIn(&l.File).Set(k.fieldIn(&before.File))
		if l.From[k.Name] = before.From[k.Name]; l.From[k.Name] == "" {
			delete(l.From, k.Name)
		}
	}
}
