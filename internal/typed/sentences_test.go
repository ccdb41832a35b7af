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

// What has to be binds the agent; what the user has to do, asks or supposes does not.
func TestBindingSentencesOfNeed(t *testing.T) {
	for _, s := range []string{
		"You have to run the tests first.", "It needs to work offline.", "We have to stay on Go 1.21.", "Under no circumstances touch main.",
		"No new dependencies.", "The API cannot change.", "The schema can't be changed.", "Please refrain from it.", "Make sure it builds.", "I don't ever want to see that.",
		"仅修改测试。", "Utilise pnpm, n'installe pas npm.", "Ne touche pas main.",
	} {
		if len(BindingSentences(s)) == 0 {
			t.Errorf("does not bind: %s", s)
		}
	}
	for _, s := range []string{"I have to go.", "Do I need to restart?", "I also need to book a flight.", "Ask if you need to.", "There is no need to wait.", "There are no new errors."} {
		if len(BindingSentences(s)) > 0 {
			t.Errorf("binds: %s", s)
		}
	}
}
