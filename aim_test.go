package winnow

import "testing"

func TestAimed(t *testing.T) {
	usual := Settings{}.WithDefaults()
	half := Settings{}.Aimed(usual.Target / 2)
	if half.Target != usual.Target/2 || half.RecentShare != usual.RecentShare/2 || half.SummaryShare != usual.SummaryShare/2 || half.FoldShare != usual.FoldShare/2 {
		t.Errorf("%+v", half)
	}
	if kept := (Settings{RecentShare: 0.25}).Aimed(usual.Target / 2); kept.RecentShare != 0.25 {
		t.Errorf("a share that was set became %v", kept.RecentShare)
	}
	for _, s := range []Settings{Settings{}.Aimed(0.7), Settings{}.Aimed(0.9), Settings{Preset: "default"}.Aimed(0.2)} {
		if err := s.Validate(); err != nil {
			t.Errorf("target %v: %v", s.Target, err)
		}
	}
	if large := (Settings{}).Aimed(0.7); large.RecentShare != 0 || large.Threshold != 0 {
		t.Errorf("a larger target changed more: %+v", large)
	}
}
