package work

import "strings"

// verb is what a program does with the files that it names.
type verb uint8

const (
	runs     verb = iota // is not known
	idles                // nothing
	says                 // prints its words
	acts                 // does to each of them what kind says
	shows                // prints their lines
	ends                 // prints the first or the last of their lines
	seds                 // prints or changes lines as its script says
	searches             // prints the lines that match
	lists                // prints what is there
	renames
	copies
	tees
	rewrites // changes them where it is told to do so in place
	patches
	fetches // puts what it gets into a file
)

// mayChange is what a program may do to files that its words do not spell out.
type mayChange uint8

const (
	nothing  mayChange = iota
	noFile             // it was told to leave files alone
	anyFile            // any file of the project
	formats            // the files that it is given, or any
	asTask             // what the words of its task's name say
	asScript           // what the text that it runs says
	asEach             // what the program does that it runs for each of many files
	itsFiles           // the files that it names
	aBranch            // any file, or the files that it names
)

// program is a row of the table of programs.
type program struct {
	does   verb
	kind   Kind   // of what it does to its files
	valued string // letters of options that take the next word along
	skip   int    // operands before the files: a pattern, a script
	silent bool   // it prints nothing

	may   mayChange
	tree  Tree
	names string // files that its tasks may change

	// It does so only if it is given one of the words in when, and none of those
	// in unless.
	when, unless string
}

// What package managers write, and the words that formatters and others wait for.
const (
	goFiles    = "go.mod go.sum go.work go.work.sum"
	cargoFiles = "Cargo.toml Cargo.lock"
	lockFiles  = "package.json package-lock.json pnpm-lock.yaml yarn.lock bun.lock bun.lockb pyproject.toml uv.lock poetry.lock Gemfile.lock composer.lock"

	write  = "-w write --write --fix -i -a --apply --apply-unsafe --in-place format fmt fix"
	check  = "--check --diff --lint"
	dryRun = "--check --stat --numstat --summary --dry-run"
)

// programs says what the programs do that agents run. What is not in it changes
// no files: builds, tests and linters are most of it.
var programs = programTable(map[string]program{
	"pwd source . test [ [[ wait } exit which date": {does: idles},
	"shopt ulimit umask local":                      {does: idles},
	"true : export sleep set unset mkdir chmod":     {does: idles, silent: true},
	"echo printf": {does: says},
	"cat nl":      {does: shows, valued: "bvws"},
	"bat batcat less more tac xxd hexdump od strings": {does: shows},
	"fold fmt expand glow":                            {does: shows},
	"head tail":                                       {does: ends, valued: "nc"},
	"sed gsed":                                        {does: seds, may: asScript},

	"grep egrep fgrep ggrep rg ag ack zgrep ugrep": {does: searches, valued: "eABCmgtTfdj", skip: 1},
	"git-grep":                             {does: searches, valued: "eABCmf", skip: 1},
	"ls dir tree file du exa eza realpath": {does: lists, valued: "LI"},
	"git-ls-files":                         {does: lists},
	"stat":                                 {does: lists, valued: "cft"},
	"fd fdfind":                            {does: lists, valued: "LIefc"},
	"find":                                 {does: lists, may: asEach},
	"awk gawk":                             {does: acts, kind: Search, valued: "Fvf", skip: 1, may: asScript},
	"jq yq tr":                             {does: acts, kind: Search, valued: "dfk", skip: 1},
	"cut sort uniq column rev paste comm":  {does: acts, kind: Search, valued: "dfktn"},
	"diff cmp wc md5sum sha1sum sha256sum": {does: acts, kind: Search},
	"rm":                                   {does: acts, kind: Delete, silent: true, may: itsFiles},
	"unlink rmdir shred del trash":         {does: acts, kind: Delete},
	"git-add":                              {silent: true, unless: "-n --dry-run -p -i --patch --interactive -e --edit"},
	"git-restore":                          {does: acts, kind: Unclear, valued: "s", silent: true, unless: "--staged -S", may: aBranch, tree: Undo},
	"git-rm":                               {does: acts, kind: Delete, unless: "--cached"},
	"touch":                                {does: acts, kind: Touch, valued: "drt", silent: true},
	"truncate ed ex":                       {does: acts, kind: Unclear, valued: "s", may: itsFiles},
	"mv":                                   {does: renames, valued: "tS", silent: true, may: itsFiles},
	"git-mv":                               {does: renames, silent: true},
	"cp":                                   {does: copies, valued: "tS", silent: true, may: itsFiles},
	"ln install scp":                       {does: copies, valued: "tm", may: itsFiles},
	"rsync":                                {does: copies, may: anyFile},
	"tee":                                  {does: tees, may: itsFiles},
	"perl ruby":                            {does: rewrites, valued: "e", may: asScript},
	"apply_patch applypatch":               {does: patches},
	"patch git-apply":                      {does: patches, may: anyFile, unless: dryRun},
	"curl wget":                            {does: fetches},
	"git-checkout git-switch":              {may: aBranch, tree: Undo},
	"git-commit":                           {tree: Commit},
	"git-stash":                            {may: anyFile, tree: Stash, unless: "list show drop create clear"},
	"git-reset":                            {may: anyFile, tree: Undo, when: "--hard --merge --keep"},
	"git-pull git-merge git-rebase git-cherry-pick":     {may: anyFile},
	"git-revert git-am git-clean git-submodule git-lfs": {may: anyFile},
	"git-bisect git-filter-branch git-sparse-checkout":  {may: anyFile},
	"git-subtree jj hg svn unzip":                       {may: anyFile},
	"tar":                                               {may: anyFile, when: "x xf xzf xvf xjf xzvf zxf zxvf -x -xf -xzf -xvf -xjf -xJf -xzvf --extract"},
	"gofmt goimports gofumpt gci golines golangci-lint": {may: formats, when: write, unless: check},
	"prettier biome eslint stylelint oxlint dprint":     {may: formats, when: write, unless: check},
	"ruff autopep8 autoflake clang-format ktlint shfmt": {may: formats, when: write, unless: check},
	"rubocop ultracite markdownlint buildifier":         {may: formats, when: write, unless: check},
	"black isort yapf rustfmt swiftformat docformatter": {may: formats, unless: check + " -c"},
	"go":    {may: asTask, names: goFiles},
	"cargo": {may: asTask, names: cargoFiles},
	"npx bunx pnpx uvx poetry uv pdm hatch mise npm":  {may: asTask, names: lockFiles},
	"pnpm yarn bun deno bundle composer":              {may: asTask, names: lockFiles},
	"task just make turbo nx rake gradle gradlew mvn": {may: asTask},
	"dotnet": {may: asTask},
	"python python3 node tsx ts-node php osascript bash": {may: asScript},
	"sh zsh pwsh powershell":                             {may: asScript},
	"xargs parallel":                                     {may: asEach},
})

// programTable gives each program its row. A row may be for several.
func programTable(rows map[string]program) map[string]program {
	table := make(map[string]program, 4*len(rows))
	for names, p := range rows {
		for name := range strings.FieldsSeq(names) {
			table[name] = p
		}
	}
	return table
}
