class Winnow < Formula
  desc "Keeps LLM agents inside their context window"
  homepage "https://github.com/winnow-llm/winnow"
  version "{{.Version}}"
  license "Apache-2.0"

  on_macos do
    on_arm do
      url "{{.URL "darwin" "arm64"}}"
      sha256 "{{.Sum "darwin" "arm64"}}"
    end
    on_intel do
      url "{{.URL "darwin" "amd64"}}"
      sha256 "{{.Sum "darwin" "amd64"}}"
    end
  end
  on_linux do
    on_arm do
      url "{{.URL "linux" "arm64"}}"
      sha256 "{{.Sum "linux" "arm64"}}"
    end
    on_intel do
      url "{{.URL "linux" "amd64"}}"
      sha256 "{{.Sum "linux" "amd64"}}"
    end
  end

  def install
    bin.install "winnow"
    generate_completions_from_executable(bin/"winnow", "completion")
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/winnow version")
  end
end
