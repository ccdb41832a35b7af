package evidence

// Members calls f with each member of the JSON object s, for packages that read
// a call's arguments more closely than [Kinds.Access] does: its key in lower
// case without underscores and dashes, and its value as it stands. It stops when
// f returns false and reports whether s is an object. What follows a syntax
// error is left out.
func Members(s string, f func(key, raw string) bool) bool {
	return members(s, func(key, raw string) bool {
		if isPlain(key) {
			return f(key, raw)
		}
		var buf [32]byte
		return f(string(plainKey(&buf, key)), raw)
	})
}

// Elements calls f with each element of the JSON array s, as it stands. It stops
// when f returns false and reports whether s is an array.
func Elements(s string, f func(raw string) bool) bool { return elements(s, f) }

// Text returns what a JSON string says, and any other value as it stands.
func Text(raw string) string { return text(raw) }
