package work

import "strings"

// verb is what a program does with the files that it names.
type verb uint8

const (
	runs     verb = iota // is not known
	idles                // nothing
	says                 // prints its words
	shows                // prints their lines
	ends                 // prints the first or the last of their lines
	seds                 // prints or changes lines as its script says
	searches             // prints the lines that match
	lists                // prints what is there
	filters              // prints something made of them
	removes
	renames
	copies
	touches
	tees
	rewrites // changes them where it is told to do so in place
	replaces // makes them anew
	patches
	gits
	fetches
	windows // opens or creates them, in agents that show a file in a window
)

// mayChange is what a program may do to files that its words do not spell out.
type mayChange uint8

const (
	nothing   mayChange = iota
	anyFile             // any file of the project
	formatted           // files that were edited since they were last formatted
	ifAsked             // the same, if it is told to write
	asTask              // what the words of its task's name say
	asScript            // what the text that it runs says
	asEach              // what the program does that it runs for each of many files
	asGit
	itsFiles
)

// program is a row of the table of programs.
type program struct {
	does   verb
	valued string // letters of options that take the next word along
	skip   int    // operands before the files: a pattern, a script
	silent bool   // it prints nothing
	may    mayChange
	names  string // files that it may change wherever they are
}

// nodeFiles and the others are what package managers write.
const (
	goFiles    = "go.mod go.sum go.work go.work.sum"
	cargoFiles = "Cargo.toml Cargo.lock"
	lockFiles  = "package.json package-lock.json pnpm-lock.yaml yarn.lock bun.lock bun.lockb pyproject.toml uv.lock poetry.lock Gemfile.lock composer.lock"
)

// programs says what the programs do that agents run. What is not in it changes
// no files: builds, tests and linters are most of it.
var programs = tabulate(map[string]program{
	"pwd source . test [ [[ wait } exit which date shopt ulimit umask local": {does: idles},
	"true : export sleep set unset":                                          {does: idles, silent: true},
	"mkdir chmod":                                                            {does: idles, silent: true},
	"echo printf":                                                            {does: says},
	"cat nl":                                                                 {does: shows, valued: "bvws"},
	"bat batcat less more tac xxd hexdump od strings":                        {does: shows},
	"fold fmt expand glow":                                                   {does: shows},
	"head tail":                                                              {does: ends, valued: "nc"},
	"sed gsed":                                                               {does: seds, may: asScript},
	"grep egrep fgrep ggrep rg ag ack zgrep ugrep":                           {does: searches, valued: "eABCmgtTfdj", skip: 1},
	"ls dir tree file du exa eza realpath":                                   {does: lists, valued: "LI"},
	"fd fdfind":                                                              {does: lists, valued: "LIefc"},
	"stat":                                                                   {does: lists, valued: "cft"},
	"find":                                                                   {does: lists, may: asEach},
	"awk gawk":                                                               {does: filters, valued: "Fvf", skip: 1, may: asScript},
	"jq yq tr":                                                               {does: filters, valued: "dfk", skip: 1},
	"cut sort uniq column rev paste comm":                                    {does: filters, valued: "dfktn"},
	"diff cmp wc md5sum sha1sum sha256sum":                                   {does: filters},
	"rm":                                                                     {does: removes, silent: true, may: itsFiles},
	"unlink rmdir shred del trash":                                           {does: removes},
	"mv":                                                                     {does: renames, valued: "tS", silent: true, may: itsFiles},
	"cp":                                                                     {does: copies, valued: "tS", silent: true, may: itsFiles},
	"ln install scp":                                                         {does: copies, valued: "tm", may: itsFiles},
	"rsync":                                                                  {does: copies, may: anyFile},
	"touch":                                                                  {does: touches, valued: "drt", silent: true},
	"tee":                                                                    {does: tees, may: itsFiles},
	"truncate ed ex":                                                         {does: rewrites, valued: "s", may: itsFiles},
	"dd":                                                                     {does: replaces, may: itsFiles},
	"perl ruby":                                                              {does: rewrites, valued: "e", may: asScript},
	"patch apply_patch applypatch":                                           {does: patches},
	"git":                                                                    {does: gits, may: asGit},
	"curl wget":                                                              {does: fetches},
	"open view create":                                                       {does: windows},
	"jj hg svn unzip":                                                        {may: anyFile},
	"gofmt goimports gofumpt gci golines":                                    {may: ifAsked},
	"prettier biome eslint stylelint oxlint dprint":   {may: ifAsked},
	"ruff autopep8 autoflake clang-format ktlint":     {may: ifAsked},
	"shfmt rubocop ultracite markdownlint buildifier": {may: ifAsked},
	"golangci-lint":                        {may: ifAsked},
	"black isort yapf rustfmt swiftformat": {may: formatted},
	"docformatter":                         {may: formatted},
	"go":                                   {may: asTask, names: goFiles},
	"cargo":                                {may: asTask, names: cargoFiles},
	"npx bunx pnpx uvx poetry uv pdm hatch mise npm":  {may: asTask, names: lockFiles},
	"pnpm yarn bun deno bundle composer":              {may: asTask, names: lockFiles},
	"task just make turbo nx rake gradle gradlew mvn": {may: asTask},
	"dotnet": {may: asTask},
	"python python3 node tsx ts-node php osascript": {may: asScript},
	"bash sh zsh pwsh powershell":                   {may: asScript},
	"xargs parallel":                                {may: asEach},
})

// tabulate gives each program its row. A row may be for several.
func tabulate(rows map[string]program) map[string]program {
	table := make(map[string]program, 4*len(rows))
	for names, p := range rows {
		for name := range strings.FieldsSeq(names) {
			table[name] = p
		}
	}
	return table
}
