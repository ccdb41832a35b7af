package winnow

// Aimed returns the settings with a target, a share of the available input. What
// may stay of recent messages and what summaries may have are shares that suit
// the usual target: under a smaller one they shrink with it, unless they are set.
// A target above the usual threshold moves the threshold, unless that is set.
func (s Settings) Aimed(share float64) Settings {
	usual := s.WithDefaults()
	if smaller := share / usual.Target; smaller < 1 {
		for _, f := range [...]struct {
			place *float64
			usual float64
		}{{&s.RecentShare, usual.RecentShare}, {&s.SummaryShare, usual.SummaryShare}, {&s.FoldShare, usual.FoldShare}} {
			if *f.place == 0 {
				*f.place = f.usual * smaller
			}
		}
	}
	if s.Threshold == 0 && usual.Threshold > 0 && share >= usual.Threshold {
		s.Threshold = (1 + share) / 2 // the target that is asked for wins over the usual threshold
	}
	s.Target = share
	return s
}
