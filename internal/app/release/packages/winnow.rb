class Winnow < Formula
  desc "Keeps LLM agents inside their context window"
  homepage "https://github.com/winnow-llm/winnow"
  version "@VERSION@"
  license "Apache-2.0"

  on_macos do
    on_arm do
      url "https://github.com/winnow-llm/winnow/releases/download/v@VERSION@/winnow_@VERSION@_darwin_arm64.tar.gz"
      sha256 "@SUM_darwin_arm64@"
    end
    on_intel do
      url "https://github.com/winnow-llm/winnow/releases/download/v@VERSION@/winnow_@VERSION@_darwin_amd64.tar.gz"
      sha256 "@SUM_darwin_amd64@"
    end
  end
  on_linux do
    on_arm do
      url "https://github.com/winnow-llm/winnow/releases/download/v@VERSION@/winnow_@VERSION@_linux_arm64.tar.gz"
      sha256 "@SUM_linux_arm64@"
    end
    on_intel do
      url "https://github.com/winnow-llm/winnow/releases/download/v@VERSION@/winnow_@VERSION@_linux_amd64.tar.gz"
      sha256 "@SUM_linux_amd64@"
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
