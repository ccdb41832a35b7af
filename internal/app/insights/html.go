package insights

import (
	"io"
	"time"

	webpage "github.com/winnow-llm/winnow/internal/page"
)

// HTML writes the report as one page that needs nothing else.
func (r *Report) HTML(w io.Writer, made time.Time) error {
	moments := []map[string]string{}
	for i := range r.Moments {
		moments = append(moments, map[string]string{"say": r.Moments[i].Say(), "file": r.Moments[i].File})
	}
	data, err := webpage.WriteInsights(map[string]any{
		"made": made.Format(time.DateOnly), "report": r, "headline": r.Headline(), "lines": r.Lines(), "moments": moments,
	})
	if err != nil {
		return err
	}
	_, err = w.Write(data)
	return err
}
