package typed

import (
	"slices"
	"testing"
)

func TestBindingSentences(t *testing.T) {
	text := "We have a bug. The service must not restart.\n" +
		"- Never touch the lock file\n" +
		"```\nyou must not read this\n```\n" +
		"Use X, not Y. I don't know why it fails, e.g. on Mondays. Only change a.go; keep v1.2 as it is.\n" +
		"> quoted: never\n" +
		"Please don't add dependencies! How should this look?\n" +
		"Bitte niemals direkt committen. Ne change pas le format. Nunca borres datos.\n" +
		"不要修改测试。测试应该通过。 必ずテストを実行してください。 Никогда не удаляй файлы.\n" +
		"Prefer small commits rather than one large one."
	want := []string{
		"The service must not restart.", "Never touch the lock file", "Use X, not Y.", "Only change a.go;", "Please don't add dependencies!",
		"Bitte niemals direkt committen.", "Ne change pas le format.", "Nunca borres datos.", "不要修改测试。", "必ずテストを実行してください。", "Никогда не удаляй файлы.",
		"Prefer small commits rather than one large one.",
	}
	if got := BindingSentences(text); !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}
