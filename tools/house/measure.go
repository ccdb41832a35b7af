package main

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// house is what is measured of a tree.
type house struct {
	commit   string // "" for the working tree
	system   string // Go's version and the platform
	deps     map[string]deps
	sizes    map[string]int64 // of programs, in bytes
	programs []program
	public   []publicPackage
	lines    map[string]int
}

// deps counts the packages that a package needs, itself included.
type deps struct {
	standard, own, others int
	modules               int // of the others
}

// layers are the packages whose dependencies are counted.
var layers = []string{".", "./transport", "./gateway", "./cmd/winnow"}

// listed is what go list says of a package.
type listed struct {
	ImportPath, Name, Doc, Dir         string
	GoFiles                            []string
	Standard                           bool
	Module                             *struct{ Path string }
	Imports, TestImports, XTestImports []string
}

func list(dir string, args ...string) ([]listed, error) {
	out, err := output(dir, "go", append([]string{"list", "-json=ImportPath,Name,Doc,Dir,GoFiles,Standard,Module,Imports,TestImports,XTestImports"}, args...)...)
	if err != nil {
		return nil, err
	}
	var all []listed
	for d := json.NewDecoder(strings.NewReader(out)); ; {
		var l listed
		if err := d.Decode(&l); errors.Is(err, io.EOF) {
			return all, nil
		} else if err != nil {
			return nil, err
		}
		all = append(all, l)
	}
}

func measure(dir string) (*house, error) {
	h := &house{deps: map[string]deps{}, sizes: map[string]int64{}}
	var err error
	if h.system, err = output(dir, "go", "version"); err != nil {
		return nil, err
	}
	h.system = strings.TrimPrefix(h.system, "go version ")
	all, err := list(dir, "./...")
	if err != nil {
		return nil, err
	}
	module := all[0].Module.Path
	for _, layer := range layers {
		needed, err := list(dir, "-deps", layer)
		if err != nil {
			return nil, err
		}
		h.deps[layer] = count(needed, module)
	}
	if err := h.build(dir, module); err != nil {
		return nil, err
	}
	if h.public, err = publicPackages(all, module); err != nil {
		return nil, err
	}
	h.lines, err = codeLines(all, module)
	return h, err
}

func count(needed []listed, module string) (d deps) {
	modules := map[string]bool{}
	for _, l := range needed {
		switch {
		case l.Standard:
			d.standard++
		case l.Module.Path == module:
			d.own++
		default:
			d.others++
			modules[l.Module.Path] = true
		}
	}
	d.modules = len(modules)
	return d
}

// Programs that use one thing alone.
const (
	command    = "the command"
	engineOnly = "a program with the engine"
	pathOnly   = "a program with the transport, plans in memory"
)

var sources = map[string]string{
	engineOnly: `package main

import (
	"context"
	"fmt"

	winnow "MODULE"
	"MODULE/chat"
)

func main() {
	w, err := winnow.New(&winnow.Options{Settings: winnow.Settings{Window: 8000}})
	if err != nil {
		panic(err)
	}
	req := chat.Request{History: chat.NewHistory(chat.TextMessage(chat.User, "Hello."))}
	fmt.Println(w.Fit(context.Background(), req, winnow.State{}))
}
`,
	pathOnly: `package main

import (
	"fmt"
	"net/http"

	winnow "MODULE"
	"MODULE/transport"
)

func main() {
	t, err := transport.New(&transport.Options{Settings: winnow.Settings{Window: 8000}})
	if err != nil {
		panic(err)
	}
	fmt.Println((&http.Client{Transport: t}).Get("http://localhost:8080/v1/models"))
}
`,
}

// program is one whose size is measured: in the tree where it has a package, else
// laid over it, so that nothing is written there.
type program struct{ name, pkg string }

// inTree returns the programs of a tree: the command, those that use one thing alone,
// and the demo and the examples where the tree has them.
func inTree(dir string) ([]program, error) {
	all := []program{{command, "./cmd/winnow"}, {engineOnly, ""}, {pathOnly, ""}}
	for _, pattern := range []string{"cmd/winnow-demo", "examples/*"} {
		found, err := filepath.Glob(filepath.Join(dir, pattern, "main.go"))
		if err != nil {
			return nil, err
		}
		for _, file := range found {
			rel, err := filepath.Rel(dir, filepath.Dir(file))
			if err != nil {
				return nil, err
			}
			rel = filepath.ToSlash(rel)
			all = append(all, program{"`" + rel + "`", "./" + rel})
		}
	}
	return all, nil
}

// build measures the programs.
func (h *house) build(dir, module string) error {
	temp, err := os.MkdirTemp("", "house-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(temp)
	if h.programs, err = inTree(dir); err != nil {
		return err
	}
	for _, p := range h.programs {
		args := []string{"build", "-buildvcs=false", "-o", filepath.Join(temp, "program")}
		if p.pkg == "" {
			overlay, err := laidOver(temp, dir, strings.ReplaceAll(sources[p.name], "MODULE", module))
			if err != nil {
				return err
			}
			args = append(args, "-overlay", overlay, "./internal/only")
		} else {
			args = append(args, p.pkg)
		}
		if _, err := output(dir, "go", args...); err != nil {
			return err
		}
		info, err := os.Stat(filepath.Join(temp, "program"))
		if err != nil {
			return err
		}
		h.sizes[p.name] = info.Size()
	}
	return nil
}

// laidOver writes a program and the overlay that puts it at internal/only.
func laidOver(temp, dir, source string) (string, error) {
	file := filepath.Join(temp, "only.go")
	if err := os.WriteFile(file, []byte(source), 0o600); err != nil {
		return "", err
	}
	over, err := json.Marshal(map[string]any{"Replace": map[string]string{filepath.Join(dir, "internal", "only", "main.go"): file}})
	if err != nil {
		return "", err
	}
	overlay := filepath.Join(temp, "overlay.json")
	return overlay, os.WriteFile(overlay, over, 0o600)
}

// publicPackage is a package that others can import.
type publicPackage struct {
	name, says string
	names      int
	users      []string // packages of this module that import it
	tests      bool     // only tests do
}

func publicPackages(all []listed, module string) ([]publicPackage, error) {
	users, testers := map[string][]string{}, map[string][]string{}
	short := func(p string) string {
		return path.Join(".", strings.TrimPrefix(p, module)[min(1, len(p)-len(module)):])
	}
	for _, l := range all {
		for _, i := range l.Imports {
			users[i] = append(users[i], short(l.ImportPath))
		}
		for _, i := range append(slices.Clone(l.TestImports), l.XTestImports...) {
			if i != l.ImportPath {
				testers[i] = append(testers[i], short(l.ImportPath))
			}
		}
	}
	var public []publicPackage
	for _, l := range all {
		if l.Name == "main" || len(l.GoFiles) == 0 || slices.Contains(strings.Split(l.ImportPath, "/"), "internal") {
			continue
		}
		n, err := exportedNames(l.Dir, l.GoFiles)
		if err != nil {
			return nil, err
		}
		p := publicPackage{name: short(l.ImportPath), says: l.Doc, names: n, users: users[l.ImportPath]}
		if len(p.users) == 0 {
			p.users, p.tests = testers[l.ImportPath], true
		}
		slices.Sort(p.users)
		p.users = slices.Compact(p.users)
		public = append(public, p)
	}
	return public, nil
}
