package summary

func sweep(run func(string, int)) {
	for _, l := range []float64{-0.6, -0.3, 0, 0.3} {
		wordBias = l
		run("word", 4000)
		run("word", 2000)
	}
}
