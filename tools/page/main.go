// Command page bundles the web page of internal/page from its TypeScript, with
// Preact and uPlot, whose sources and licences stand in web/vendor. It is run by
// go generate in internal/page; a test says when what it wrote is out of date.
package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/evanw/esbuild/pkg/api"
)

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: page WEB OUT")
		os.Exit(2)
	}
	files, err := bundlePage(os.Args[1])
	if err == nil {
		err = os.MkdirAll(os.Args[2], 0o755)
	}
	for name, data := range files {
		if err == nil {
			err = os.WriteFile(filepath.Join(os.Args[2], name), data, 0o644)
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "page:", err)
		os.Exit(1)
	}
}

// bundlePage returns the files of the page by name.
func bundlePage(web string) (map[string][]byte, error) {
	web, err := filepath.Abs(web)
	if err != nil {
		return nil, err
	}
	vendor := func(name string) string { return filepath.Join(web, "vendor", filepath.FromSlash(name)) }
	licences, err := joinLicences(web)
	if err != nil {
		return nil, err
	}
	built := api.Build(api.BuildOptions{
		EntryPointsAdvanced: []api.EntryPoint{
			{InputPath: filepath.Join(web, "src", "main.tsx"), OutputPath: "app"},
		},
		AbsWorkingDir: web, Outdir: filepath.Join(web, "out"), Bundle: true, Write: false,
		Format: api.FormatIIFE, Target: api.ES2022, Charset: api.CharsetASCII,
		MinifySyntax: true, MinifyWhitespace: true, MinifyIdentifiers: true, LegalComments: api.LegalCommentsNone,
		JSXFactory: "h", JSXFragment: "Fragment", TsconfigRaw: "{}",
		Alias: map[string]string{
			"preact": vendor("preact/preact.mjs"), "preact/hooks": vendor("preact/hooks.mjs"), "uplot": vendor("uplot/uPlot.esm.js"),
		},
		Banner: map[string]string{"js": "// winnow's page, with Preact and uPlot: see LICENSES.txt. Made by go generate."},
	})
	style := api.Build(api.BuildOptions{
		Stdin: &api.StdinOptions{
			Contents: "@import \"./vendor/uplot/uPlot.min.css\";\n@import \"./style.css\";\n", ResolveDir: web, Sourcefile: "app.css", Loader: api.LoaderCSS,
		},
		AbsWorkingDir: web, Outfile: filepath.Join(web, "out", "app.css"), Bundle: true, Write: false, MinifyWhitespace: true, MinifySyntax: true,
		Charset: api.CharsetASCII,
	})
	files := map[string][]byte{"LICENSES.txt": licences}
	for _, r := range []api.BuildResult{built, style} {
		if len(r.Errors) > 0 {
			return nil, fmt.Errorf("%s", strings.Join(api.FormatMessages(r.Errors, api.FormatMessagesOptions{}), "\n"))
		}
		for _, f := range r.OutputFiles {
			files[filepath.Base(f.Path)] = f.Contents
		}
	}
	files["index.html"], err = os.ReadFile(filepath.Join(web, "index.html"))
	return files, err
}

// joinLicences puts those of the parts together.
func joinLicences(web string) ([]byte, error) {
	out := "The page contains the following software.\n"
	for _, part := range []struct{ name, dir string }{{"Preact 11.2.0, https://preactjs.com", "preact"}, {"uPlot 1.6.32, https://github.com/leeoniya/uPlot", "uplot"}} {
		text, err := os.ReadFile(filepath.Join(web, "vendor", part.dir, "LICENSE"))
		if err != nil {
			return nil, err
		}
		out += "\n" + part.name + "\n\n" + strings.TrimSpace(string(text)) + "\n"
	}
	return []byte(out), nil
}
