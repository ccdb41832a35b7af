#!/bin/sh
# Installs winnow @VERSION@ into ~/.local/bin, or into the folder that BIN names.
set -eu
release=${RELEASE:-https://github.com/winnow-llm/winnow/releases/download/v@VERSION@} bin=${BIN:-$HOME/.local/bin}
fail() { echo "install: $*" >&2; exit 1; }
case $(uname -s) in
Linux) os=linux ;;
Darwin) os=darwin ;;
*) fail "there is no program for $(uname -s) here; see https://github.com/winnow-llm/winnow/blob/main/docs/install.md" ;;
esac
case $(uname -m) in
x86_64 | amd64) arch=amd64 ;;
aarch64 | arm64) arch=arm64 ;;
*) fail "there is no program for $(uname -m); build it: go install github.com/winnow-llm/winnow/cmd/winnow@latest" ;;
esac
name=winnow_@VERSION@_${os}_$arch
case $name in
*_linux_amd64) sum=@SUM_linux_amd64@ ;;
*_linux_arm64) sum=@SUM_linux_arm64@ ;;
*_darwin_amd64) sum=@SUM_darwin_amd64@ ;;
*_darwin_arm64) sum=@SUM_darwin_arm64@ ;;
esac
command -v curl > /dev/null || fail "curl is not installed"
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
curl -fsSL "$release/$name.tar.gz" -o "$dir/archive" || fail "$release/$name.tar.gz could not be fetched"
{ sha256sum "$dir/archive" 2> /dev/null || shasum -a 256 "$dir/archive"; } | grep -q "^$sum " || fail "$name.tar.gz is not the file that was released; nothing was installed"
tar -xzf "$dir/archive" -C "$dir"
mkdir -p "$bin"
mv "$dir/$name/winnow" "$bin/winnow.new"
mv "$bin/winnow.new" "$bin/winnow"
echo "installed $bin/winnow; winnow init sets it up"
case :$PATH: in *":$bin:"*) ;; *) echo "put $bin on your PATH" ;; esac
