#!/usr/bin/env bash
# Builds the book, with the crates' documentation in its folder `api` and the emulator's page in `browser`, where they have been
# built, into target/docs/book, and checks its links.
#
# The pages are copied to a folder as they lie in the repository, so that their links hold. The chapters of the ladder's steps
# are made from the steps' files.
set -euo pipefail
cd "$(dirname "$0")/.."
version=0.5.4
tools=${FERROWAVE_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/ferrowave}/mdbook-$version
mdbook=$tools/bin/mdbook
# Without the parts that serve and watch, which are most of it.
[ -x "$mdbook" ] || cargo install --quiet --locked mdbook --version "$version" --no-default-features --features search --root "$tools"
target=$(mkdir -p "${CARGO_TARGET_DIR:-target}" && cd "${CARGO_TARGET_DIR:-target}" && pwd)
stage=$target/docs/source book=$target/docs/book steps=kernels/src/steps
rm -rf "$stage" "$book"
mkdir -p "$stage"
cp -r --parents docs ./*.md LICENSE-* examples/*/README.md examples/triton/products.py examples/bugs/src "$steps"/s*.rs "$stage"
cp docs/book.toml docs/book.css "$stage"

# A sentence with the links that run a step's kernels in the emulator's page, on the first machine that has them.
run_link() {
    local step=${1%.rs} machine kernel
    [ "$step" != mfma_blocks ] || step=mfma_block_order
    machine=$(sed -nE "s/ gemm_${step}_[a-z0-9]+$//p" "$target/browser/kernels" 2> /dev/null | head -1)
    [ -n "$machine" ] || return 0
    printf '\nRun it in this browser, as 256³ for %s:' "$machine"
    sed -nE "s/^$machine (gemm_${step}_[a-z0-9]+)$/\\1/p" "$target/browser/kernels" | while read -r kernel; do
        printf ' [%s](../../../browser/index.html#%s/%s)' "${kernel##*_}" "${machine// /%20}" "$kernel"
    done
    printf '.\n'
}

# A step's file as a chapter: its documentation, without rustdoc's links, then its code and what it changes.
chapter() {
    local file=$1 name row before lines new text
    name=$(basename "$file")
    row=$(grep -F "| \`$name\` |" docs/ladder.md) || { echo "docs/ladder.md has no row for $name" >&2; exit 1; }
    IFS='|' read -r _ _ before lines new text _ <<< "$row"
    sed -n 's#^//! \?##p' "$file" |
        sed -E '1 s/^/# /; 1 s/^(# Step [^:]*): *(.)/\1\n\n\u\2/; s/\[(`[^]]*`)\](\([^)]*\))?/\1/g'
    run_link "${name#s??_}"
    printf '\n## The code\n\n%s lines without comments, %s of them new.%s\n\n```rust,ignore\n' "${lines// /}" "${new// /}" "${text% }"
    sed '/^\/\/!/d' "$file" | sed '1{/^$/d}'
    printf '```\n'
    before=${before//[ \`]/}
    if [ -n "$before" ]; then
        printf '\n<details><summary>Compared with %s</summary>\n\n```diff\n' "$before"
        diff -u --label "$before" --label "$name" <(sed '/^\/\/!/d' "$steps/$before") <(sed '/^\/\/!/d' "$file") || true
        printf '```\n\n</details>\n'
    fi
}
chapters=
for file in "$steps"/s*.rs; do
    chapter "$file" > "$stage/${file%.rs}.md"
    title=$(sed -n '1 s/^# //p' "$stage/${file%.rs}.md")
    chapters+="  - [$title](${file%.rs}.md)"$'\n'
done
sed -i -E "s#\]\(\.\./($steps/[a-z0-9_]*)\.rs\)#](../\1.md)#g" "$stage/docs/course.md"
sed -i -E "/^\| \`s/s#\`(s[0-9]{2}_[a-z0-9_]+)\.rs\`#[\`\1.rs\`](../$steps/\1.md)#g" "$stage/docs/ladder.md"

[ ! -d "$target/browser" ] || printf '\n**[Open the page](../browser/index.html)**\n' >> "$stage/docs/browser.md"

# The table of contents is in docs/, the book's root is one folder up.
sed -E 's#\]\(([^)]*)\)#](docs/\1)#; s#\]\(docs/\.\./#](#' docs/SUMMARY.md |
    while IFS= read -r line; do
        printf '%s\n' "$line"
        [[ $line != *docs/course.md* ]] || printf '%s' "$chapters"
    done > "$stage/SUMMARY.md"
rm "$stage/docs/SUMMARY.md"

# Links that are named by their file get the page's title.
while IFS= read -r page; do
    title=$(sed -n '/^# /{s/^# //;p;q}' "$page" | sed 's/[&#\\]/\\&/g')
    named+=(-e "s#\[(docs/)?$(basename "$page" .md)\.md\]\(#[$title](#g")
done < <(ls docs/*.md ARCHITECTURE.md CHANGELOG.md CONTRIBUTING.md)
sed -i -E "${named[@]}" "$stage"/*.md "$stage"/docs/*.md

"$mdbook" build "$stage"
if [ -d "$target/doc" ]; then
    cp -r "$target/doc" "$book/api"
fi
if [ -d "$target/browser" ]; then
    mkdir "$book/browser"
    cp "$target/browser/index.html" "$book/browser"
fi

# Every link leads to a file of the book, and to a place in it.
failed=no count=0
while IFS=: read -r page link; do
    file=${link%%#*} place=
    [[ $link != *'#'* ]] || place=${link#*#}
    [ -n "$file" ] && file=$(dirname "$page")/$file || file=$page
    [ ! -d "$file" ] || file=$file/index.html
    count=$((count + 1))
    if [ ! -e "$file" ]; then
        echo "${page#"$book"/}: $link leads nowhere" >&2
        failed=yes
    # The places of the emulator's page are kernels.
    elif [ -n "$place" ] && [[ $file != */browser/index.html ]] && ! grep -qF "id=\"$place\"" "$file"; then
        echo "${page#"$book"/}: $link: there is no such place" >&2
        failed=yes
    fi
done < <(find "$book" -name '*.html' -not -path "$book/api/*" -not -path "$book/browser/*" -not -name 404.html -exec grep -oHE '(href|src)="[^"]*"' {} + |
    sed -E 's/(href|src)="([^"]*)"/\2/' | grep -vE ':(https?|mailto|data|javascript):' | sort -u)
[ "$failed" = no ] || exit 1
echo "$book/index.html: $count links checked"
