package control

// FileText is a file as it stands, as far as the history shows it.
type FileText struct {
	Path    string   `json:"path"`
	Whole   bool     `json:"whole"`
	Regions []Region `json:"regions"`
	Left    int      `json:"left,omitempty"` // lines that were left out at the end
}

// Region is a run of lines that stand together. From is the number of the first;
// 0 is unknown.
type Region struct {
	From  int        `json:"from"`
	Lines []FileLine `json:"lines"`
}

// FileLine is a line of a file.
type FileLine struct {
	Text   string `json:"text"`
	Shown  bool   `json:"shown"`            // to the model, now
	Edited bool   `json:"edited,omitempty"` // by the conversation, and not seen since
	Doubt  string `json:"doubt,omitempty"`  // what may have changed it since
}

// MaxFileLines bounds what is shown of one file.
const MaxFileLines = 5000

// Hint is a tool's result that plans hid and that the agent then fetched again by
// the same call: had it been pinned, it would have been there.
type Hint struct {
	Message int    `json:"message"` // its newest copy
	Part    int    `json:"part"`
	About   string `json:"about"`
	Again   int    `json:"again"` // how often it was fetched again
	Tokens  int    `json:"tokens"`
}
