package pibase

// CollectBranch returns the entries that are left behind when the leaf moves
// from one entry to another, oldest first, and the entry both paths share.
func CollectBranch(entries []Entry, from, to string) (left []*Entry, ancestor string) {
	if from == "" {
		return nil, ""
	}
	old := Path(entries, from)
	on := make(map[string]bool, len(old))
	for _, e := range old {
		on[e.ID] = true
	}
	if to != "" {
		target := Path(entries, to)
		for i := len(target) - 1; i >= 0 && ancestor == ""; i-- {
			if on[target[i].ID] {
				ancestor = target[i].ID
			}
		}
	}
	for i := len(old) - 1; i >= 0 && old[i].ID != ancestor; i-- {
		left = append(left, old[i])
	}
	for i, j := 0, len(left)-1; i < j; i, j = i+1, j-1 {
		left[i], left[j] = left[j], left[i]
	}
	return left, ancestor
}

// Branch is what a branch summary is made of.
type Branch struct {
	Messages []*Message
	Tokens   int
	Files    *FileOps
}

// PrepareBranch takes messages from the newest back as long as they are within
// the budget; 0 is none. Tool results are left out, a summary that does not fit
// is taken nevertheless while a tenth of the budget is free.
func PrepareBranch(entries []*Entry, budget int) Branch {
	b := Branch{Files: NewFileOps()}
	for _, e := range entries {
		if e.Type == "branch_summary" && !e.FromHook {
			b.Files.addDetails(e)
		}
	}
	for i := len(entries) - 1; i >= 0; i-- {
		e := entries[i]
		var m *Message
		for _, x := range e.messages() {
			if x.Role != "system" {
				m = x
			}
		}
		if m == nil || m.Role == "toolResult" {
			continue
		}
		b.Files.AddMessage(m)
		n := m.Estimate()
		full := budget > 0 && b.Tokens+n > budget
		if full && !((e.Type == "compaction" || e.Type == "branch_summary") && b.Tokens*10 < budget*9) {
			break
		}
		b.Messages = append([]*Message{m}, b.Messages...)
		b.Tokens += n
		if full {
			break
		}
	}
	return b
}
